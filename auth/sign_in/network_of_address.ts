import { networkOf } from "../../core/http/network_of.ts";
import { keyPart } from "../key_part.ts";

/** Returns an address's network as part of a key, or `undefined` if unknown. */
export function networkOfAddress(
  address: string | undefined,
): string | undefined {
  return address ? keyPart(networkOf(address)) : undefined;
}
