/**
 * Calls over HTTP: a query by GET while its URL is short, all else by POST.
 *
 * @module
 */

import type { CallMessage } from "../protocol.ts";
import { decode } from "./decode.ts";
import { RPCClientError } from "./error.ts";
import { createExchange } from "./exchange.ts";
import type { Answer } from "./exchange.ts";
import type { CallOptions, PlainOptions } from "./types.ts";

/** Sends a call and gives the procedure's output. */
export type Send = (
  path: readonly string[],
  type: string,
  input: unknown,
  options?: CallOptions,
) => Promise<unknown>;

/** Makes what sends calls. */
export function createSend(options: PlainOptions): Send {
  const { transformer } = options;
  const endpoint = `${options.httpEndpoint}`;
  const query = endpoint.includes("?") ? "&" : "?";
  const exchange = createExchange(options);
  // What is no function is an error that names the option, minified as well.
  const enqueue = options.batch?.(endpoint, exchange);

  return async (path, type, input, callOptions = {}) => {
    const { signal } = callOptions;
    signal?.throwIfAborted();
    const name = path.join(".");
    const text = (transformer ?? JSON).stringify(input);
    if (transformer) input = text;
    const url = endpoint + query + "path=" + encodeURIComponent(name) +
      (text ? "&input=" + encodeURIComponent(text) : "");
    const message = { path, type, input } as CallMessage;
    const answer = await new Promise<Answer>((resolve, reject) => {
      // Not all that it waits for looks at the signal: a batch goes on for the
      // other calls, and headers or a fetch of one's own may not know of it.
      const abort = () => reject(signal!.reason);
      signal?.addEventListener("abort", abort);
      (enqueue && !callOptions.headers
        ? enqueue(message)
        // No server nor proxy on the way refuses a URL of this length.
        : type === "query" && url.length <= 2_000
        ? exchange(url, callOptions)
        : exchange(endpoint, callOptions, message))
        .then(resolve, reject)
        .finally(() => signal?.removeEventListener("abort", abort));
    });
    const { status } = answer;
    if (answer.ok === true) {
      return decode(transformer, answer.data, status, name);
    }
    const failure = answer.ok === false && answer.error;
    throw new RPCClientError(failure, status, name, answer.cause);
  };
}
