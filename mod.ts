/**
 * Auth, request tracing, typed RPC and cache revalidation for Deno servers.
 *
 * This entry point has everything that a server needs. The others are for who
 * wants one module, or needs what only some do:
 *
 * | entry point                 | what                                                |
 * | --------------------------- | --------------------------------------------------- |
 * | `@quartet/kit/app`          | the host, and the adapters for other servers        |
 * | `@quartet/kit/auth`         | sign-in, sessions, guards                           |
 * | `@quartet/kit/auth/kv`      | sessions in Deno KV                                 |
 * | `@quartet/kit/auth/redis`   | sessions in Redis                                   |
 * | `@quartet/kit/data`         | the cache                                           |
 * | `@quartet/kit/data/kv`      | the cache of several processes, in Deno KV          |
 * | `@quartet/kit/data/redis`   | the cache of several machines, in Redis             |
 * | `@quartet/kit/rpc`          | procedures and routers                              |
 * | `@quartet/kit/rpc/client`   | their client, for pages and programs                |
 * | `@quartet/kit/rpc/redis`    | channels of several machines                        |
 * | `@quartet/kit/rpc/tanstack` | calls as options for TanStack Query                 |
 * | `@quartet/kit/trace`        | request tracing                                     |
 * | `@quartet/kit/trace/client` | the browser's half of it                            |
 * | `@quartet/kit/trace/noop`   | all its names, to put in its place; they do nothing |
 * | `@quartet/kit/dev`          | the dev command                                     |
 *
 * @example
 * ```ts
 * import { createApp, createTracer, tracePlugin } from "@quartet/kit";
 *
 * const tracer = createTracer();
 * const app = createApp({
 *   trace: tracePlugin(tracer),
 *   routes: [{ path: "/", handler: () => new Response("hello") }],
 * });
 *
 * const response = await app.fetch(new Request("http://localhost/"));
 * console.assert(response.headers.has("x-app-trace-id"));
 * await app.close();
 * ```
 *
 * @module
 */

export * from "./app/mod.ts";
export * from "./auth/mod.ts";
export * from "./data/mod.ts";
export * from "./rpc/mod.ts";
export * from "./trace/mod.ts";
