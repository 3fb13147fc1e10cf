import type { Transformer } from "../transformer.ts";
import { RPCClientError } from "./error.ts";

/**
 * The value that a message carries: with a transformer, as its text.
 *
 * @throws {RPCClientError} `BAD_RESPONSE` if the transformer can't read it.
 */
export function decode(
  transformer: Transformer | undefined,
  sent: unknown,
  status: number,
  path: string,
): unknown {
  try {
    return transformer && sent ? transformer.parse(sent as string) : sent;
  } catch (cause) {
    throw new RPCClientError(undefined, status, path, cause);
  }
}
