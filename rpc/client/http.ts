/**
 * Calls over HTTP: queries with a short URL by GET, everything else by POST.
 *
 * @module
 */

import type { CallMessage } from "../protocol.ts";
import { RPCClientError } from "./error.ts";
import type { Answer, CallOptions, Exchange, PlainOptions } from "./types.ts";

/** Returns a function for each kind of call. `shown` is the URL in errors. */
export function createSend(options: PlainOptions, shown: string) {
  const { transformer, headers: base } = options;
  const endpoint = options.httpEndpoint + "";

  const exchange: Exchange = async (body, { signal, headers: more }, url) => {
    // First, because the caller may change its input while this waits.
    const post = !url && { method: "POST", body: JSON.stringify(body) };
    const headers = new Headers(
      typeof base === "function" ? await base() : base,
    );
    for (const header of new Headers(more)) headers.set(...header);
    if (post) headers.set("content-type", "application/json");
    let response: Response | undefined;
    let answer: Partial<Answer>;
    try {
      response = await (options.fetch ?? fetch)(url || endpoint, {
        signal: signal as AbortSignal,
        headers,
        ...post,
      });
      answer = await response.json();
    } catch (cause) {
      answer = { cause };
    }
    return { ...answer, status: response ? response.status : 0 };
  };

  // If `batch` isn't a function, the error names the option, even when
  // minified.
  const collect = options.batch?.(exchange);

  /** Sends a call and returns the procedure's output. */
  return (type: CallMessage["type"]) =>
  async (
    path: readonly string[],
    input: unknown,
    callOptions: CallOptions = {},
  ): Promise<unknown> => {
    const { signal } = callOptions;
    const name = path.join(".");
    const text = (transformer ?? JSON).stringify(input);
    const url = endpoint + (endpoint.includes("?") ? "&" : "?") +
      new URLSearchParams({ path: name, ...text && { input: text } });
    let { cause, ok, data, status, error } = await new Promise<Answer>(
      (resolve, reject) => {
        // A batch, a `headers` function or a custom `fetch` may ignore the
        // signal.
        const abort = () => reject(signal!.reason);
        signal?.throwIfAborted();
        signal?.addEventListener("abort", abort);
        (callOptions.headers ? exchange : collect || exchange)(
          { path, type, input: transformer ? text : input },
          callOptions,
          // Servers and proxies accept URLs of this length.
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
