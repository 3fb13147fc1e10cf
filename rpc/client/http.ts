/**
 * Calls over HTTP: a query by GET while its URL is short, all else by POST.
 *
 * @module
 */

import type { CallMessage } from "../protocol.ts";
import type { Batching } from "./batch.ts";
import { decode } from "./decode.ts";
import { RPCClientError } from "./error.ts";
import { createExchange } from "./exchange.ts";
import type { CallOptions, PlainOptions } from "./types.ts";

/** Sends a call and gives the procedure's output. */
export type Send = (
  path: readonly string[],
  type: string,
  input: unknown,
  options?: CallOptions,
) => Promise<unknown>;

/** Makes what sends calls, some of them together if there is `batching`. */
export function createSend(
  options: PlainOptions,
  batching?: Batching,
): Send {
  const { transformer, batch } = options;
  const endpoint = `${options.httpEndpoint}`;
  const exchange = createExchange(options);
  const enqueue = batch &&
    batching?.(endpoint, batch === true ? 50 : batch, exchange);

  return async (path, type, input, callOptions = {}) => {
    const name = path.join(".");
    const text = transformer ? input : JSON.stringify(input);
    const url = `${endpoint}?path=${encodeURIComponent(name)}${
      text ? `&input=${encodeURIComponent(text as string)}` : ""
    }`;
    const message = { path, type, input } as CallMessage;
    const answer =
      await (enqueue && !callOptions.headers
        ? enqueue(message, callOptions.signal)
        // No server nor proxy on the way refuses a URL of this length.
        : type === "query" && url.length <= 2_000
        ? exchange(url, callOptions)
        : exchange(endpoint, callOptions, message));
    if (!answer.ok) {
      throw new RPCClientError(answer.error, answer.status, name, answer.cause);
    }
    return decode(transformer, answer.data);
  };
}
