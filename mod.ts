/**
 * Auth, request tracing, typed RPC and cache revalidation for Deno servers.
 *
 * Everything that a server needs, from one place. Each module is also an entry
 * point of its own: `@quartet/kit/app`, `/auth`, `/trace`, `/rpc` and `/data`.
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
