import { createPathProxy, type Methods } from "../path_proxy.ts";
import { checkClient, checkOptions } from "./check.ts";
import { createSend } from "./http.ts";
import { iterate } from "./iterate.ts";
import { createSubscribe, type Handlers } from "./subscribe.ts";
import type {
  Client,
  ClientOptions,
  HTTPClient,
  HTTPClientOptions,
  TransformerOption,
} from "./types.ts";

/**
 * Creates the client of a router. It needs only the router's type. Use
 * `import type`, so that no server code gets into the page.
 *
 * Calls reject with an {@linkcode RPCClientError}. An aborted call rejects with
 * its signal's reason. Input that can't be encoded rejects with the error of
 * `JSON.stringify` or the transformer.
 *
 * @typeParam R The router's type, `typeof api`.
 * @param options Where the router is, and how to call it.
 * @throws {TypeError} If `httpEndpoint` isn't a URL, or an option is unknown.
 *
 * @example
 * ```ts
 * import { createRouter, procedure } from "@quartet/kit/rpc";
 * import { createClient } from "@quartet/kit/rpc/client";
 * import { z } from "zod";
 *
 * const api = createRouter({
 *   math: { double: procedure.query(z.number(), ({ input }) => input * 2) },
 * });
 *
 * const rpc = createClient<typeof api>({
 *   httpEndpoint: "http://localhost/api/rpc",
 *   fetch: (url, init) => api.handler(new Request(url, init)),
 * });
 * console.assert(await rpc.math.double.query(21) === 42);
 * ```
 */
export function createClient<R>(
  options: ClientOptions & TransformerOption<R>,
): Client<R> {
  const shown = checkClient(options);
  const subscribe = createSubscribe(options, shown);
  const send = createSend(options, shown);
  return createPathProxy({
    __proto__: null,
    query: send("query"),
    mutate: send("mutation"),
    subscribe: (path, input, more?: Partial<Handlers>) =>
      more?.onData ? subscribe(path, input, more as Handlers) : iterate(
        (handlers) => subscribe(path, input, { ...more, ...handlers }),
        more?.onGap,
      ),
  } as Methods) as Client<R>;
}

/**
 * Creates a client without subscriptions. It has less than
 * half the size of {@linkcode
 * createClient} and is the same otherwise.
 *
 * @typeParam R The router's type, `typeof api`.
 * @param options Where the router is, and how to call it.
 * @throws {TypeError} If `httpEndpoint` isn't a URL, or an option is unknown.
 *
 * @example
 * ```ts
 * import { createRouter, procedure } from "@quartet/kit/rpc";
 * import { createHTTPClient } from "@quartet/kit/rpc/client";
 *
 * const api = createRouter({ ping: procedure.query(() => "pong") });
 *
 * const rpc = createHTTPClient<typeof api>({
 *   httpEndpoint: "http://localhost/api/rpc",
 *   fetch: (url, init) => api.handler(new Request(url, init)),
 * });
 * console.assert(await rpc.ping.query() === "pong");
 * ```
 */
export function createHTTPClient<R>(
  options: HTTPClientOptions & TransformerOption<R>,
): HTTPClient<R> {
  const shown = checkOptions(options);
  const send = createSend(options, shown);
  return createPathProxy({
    __proto__: null,
    query: send("query"),
    mutate: send("mutation"),
  } as Methods) as HTTPClient<R>;
}
