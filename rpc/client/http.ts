/**
 * Calls over HTTP: a query by GET while its URL is short, all else by POST.
 *
 * @module
 */

import type { CallMessage } from "../protocol.ts";
import { RPCClientError } from "./error.ts";
import type { Answer, CallOptions, Exchange, PlainOptions } from "./types.ts";

/** Sends a call and gives the procedure's output. */
export type Send = (
  path: readonly string[],
  input: unknown,
  options?: CallOptions,
) => Promise<unknown>;

/** Returns functions that make calls, by their type. */
export function createSend(
  options: PlainOptions,
  shown: string,
): (type: CallMessage["type"]) => Send {
  const { transformer, headers: base } = options;
  const endpoint = options.httpEndpoint + "";

  const exchange: Exchange = async (body, { signal, headers: more }, url) => {
    const headers = new Headers(
      typeof base === "function" ? await base() : base,
    );
    for (const header of new Headers(more)) headers.set(...header);
    if (!url) headers.set("content-type", "application/json");
    let status = 0;
    try {
      const response = await (options.fetch ?? fetch)(url || endpoint, {
        signal: signal as AbortSignal,
        headers,
        ...!url && { method: "POST", body: JSON.stringify(body) },
      });
      status = response.status;
      return { ...await response.json(), status };
    } catch (cause) {
      return { cause, status };
    }
  };

  // What is no function is an error that names the option, minified as well.
  const collect = options.batch?.(exchange);

  return (type) => async (path, input, callOptions = {}) => {
    const { signal } = callOptions;
    const name = path.join(".");
    const text = (transformer ?? JSON).stringify(input);
    if (transformer) input = text;
    const url = endpoint + (endpoint.includes("?") ? "&" : "?") +
      new URLSearchParams({ path: name, ...text && { input: text } });
    let { ok, data, error, status, cause } = await new Promise<Answer>(
      (resolve, reject) => {
        // Not all that it waits for looks at the signal: a batch goes on for
        // the other calls, and headers or a fetch of one's own may not know of
        // it.
        const abort = () => reject(signal!.reason);
        signal?.throwIfAborted();
        signal?.addEventListener("abort", abort);
        (callOptions.headers ? exchange : collect || exchange)(
          { path, type, input },
          callOptions,
          // No server nor proxy on the way refuses a URL of this length.
          type === "query" && url.length <= 2_000 && url,
        )
          .then(resolve, reject)
          .finally(() => signal?.removeEventListener("abort", abort));
      },
    );
    if (ok === true) {
      try {
        return transformer && data ? transformer.parse(data as string) : data;
      } catch (error) {
        cause = error;
      }
    }
    throw new RPCClientError(
      ok === false && error,
      status,
      name,
      shown,
      cause,
    );
  };
}
