import { networkOf } from "../../app/internal/network_of.ts";
import { keyPart } from "../key_part.ts";

/** The network of an address, as part of a key; `undefined` if it isn't known. */
export function networkOfAddress(
  address: string | undefined,
): string | undefined {
  return address ? keyPart(networkOf(address)) : undefined;
}
