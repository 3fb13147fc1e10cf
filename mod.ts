/**
 * Request tracing, auth, typed RPC and a data cache for Deno servers. Also runs
 * on Node 22 and Bun.
 *
 * This entry point exports the names that most servers need. Import from a
 * module's own entry point to get all of its names:
 *
 * | entry point                  | content                                          |
 * | ---------------------------- | ------------------------------------------------ |
 * | `@quartet/kit/app`           | the host, and adapters for other servers         |
 * | `@quartet/kit/auth`          | sign-in, sessions, guards                        |
 * | `@quartet/kit/auth/kv`       | sessions and sign-in limits in Deno KV           |
 * | `@quartet/kit/auth/postgres` | sessions and sign-in limits in Postgres          |
 * | `@quartet/kit/auth/redis`    | sessions and sign-in limits in Redis             |
 * | `@quartet/kit/data`          | the cache, in memory                             |
 * | `@quartet/kit/data/kv`       | a cache in Deno KV, for several processes        |
 * | `@quartet/kit/data/redis`    | a cache in Redis, for several machines           |
 * | `@quartet/kit/rpc`           | procedures, routers, subscriptions               |
 * | `@quartet/kit/rpc/client`    | the RPC client, for browsers and programs        |
 * | `@quartet/kit/rpc/kv`        | rate limits in Deno KV                           |
 * | `@quartet/kit/rpc/postgres`  | channels and rate limits in Postgres             |
 * | `@quartet/kit/rpc/redis`     | channels and rate limits in Redis                |
 * | `@quartet/kit/rpc/tanstack`  | query and mutation options for TanStack Query    |
 * | `@quartet/kit/trace`         | request tracing and the viewer                   |
 * | `@quartet/kit/trace/client`  | tracing in browsers                              |
 * | `@quartet/kit/trace/noop`    | the names of `trace` without any tracing         |
 * | `@quartet/kit/trace/testing` | checks of queries, spans and errors in tests     |
 * | `@quartet/kit/dev`           | the dev command                                  |
 *
 * @example An app with tracing
 * ```ts
 * import { createApp, createTracer, tracePlugin } from "@quartet/kit";
 *
 * const tracer = createTracer();
 * const app = createApp({
 *   // The viewer is at /__app/traces.
 *   trace: tracePlugin(tracer),
 *   routes: [{ path: "/", handler: () => new Response("hello") }],
 * });
 * const server = await app.serve({ port: 0 });
 *
 * const response = await fetch(`http://127.0.0.1:${server.address.port}/`);
 * console.assert(await response.text() === "hello");
 * console.assert(tracer.getTraces()[0]?.metadata.routePattern === "/");
 *
 * await server.shutdown();
 * ```
 *
 * @module
 */

// The host
export {
  createApp,
  createGuard,
  currentContext,
  errorResponse,
  healthPlugin,
  observe,
  serve,
  toBun,
  toHono,
  toMiddleware,
  toNode,
  withPlugins,
} from "./app/mod.ts";
export type {
  App,
  AppOptions,
  Context,
  HealthOptions,
  Middleware,
  Next,
  Plugin,
  RequestContext,
  Route,
  RouteArgs,
  RouteConfig,
  ServeOptions,
  Server,
} from "./app/mod.ts";

// Sign-in, sessions, guards
export {
  apiKey,
  AuthError,
  createAuthPlugin,
  createMemorySessionStore,
  credentials,
  discord,
  getAuth,
  getOAuthUrl,
  getSession,
  getUser,
  github,
  google,
  handleOAuthCallback,
  hashPassword,
  mock,
  needsRehash,
  oauth,
  optionalAuth,
  publicAction,
  rateLimitSignIn,
  requireAuth,
  requireRoles,
  safeRedirect,
  verifyPassword,
  withAuth,
} from "./auth/mod.ts";
export type {
  AuthConfig,
  AuthContext,
  AuthErrorCode,
  AuthEvent,
  AuthPlugin,
  AuthProvider,
  BaseUser,
  DiscordProfile,
  GitHubProfile,
  GoogleProfile,
  Session,
  SessionConfig,
  SessionInfo,
  SessionStore,
  User,
} from "./auth/mod.ts";

// The cache
export {
  cached,
  CacheError,
  cacheFunction,
  cacheResponse,
  cacheStats,
  configureCache,
  createCache,
  createRevalidationHandler,
  onDemandRevalidate,
  revalidate,
  revalidatePath,
  revalidateTag,
  tags,
  unstable_cache,
} from "./data/mod.ts";
export type {
  Cache,
  CachedOptions,
  CacheErrorCode,
  CacheFunctionOptions,
  CacheOptions,
  CacheResponseOptions,
  CacheStats,
  CacheStore,
  RevalidateOptions,
  RevalidateResult,
  UnstableCacheOptions,
} from "./data/mod.ts";

// Procedures and routers
export {
  createCaller,
  createChannel,
  createRouter,
  errors,
  procedure,
  rateLimit,
  RPCError,
  rpcPlugin,
  tracked,
} from "./rpc/mod.ts";
export type {
  Channel,
  inferInput,
  inferOutput,
  Procedure,
  RateLimitOptions,
  Router,
  RouterDef,
  RPCPluginOptions,
} from "./rpc/mod.ts";

// Request tracing
export {
  createCLIReporter,
  createOTLPExporter,
  createTracer,
  exportTracesHTML,
  getActiveSpan,
  getTracer,
  setTracer,
  tracedAdapter,
  tracedFetch,
  traceMiddleware,
  tracePlugin,
  withErrorCapture,
  withSpan,
} from "./trace/mod.ts";
export type {
  Layer,
  Span,
  TraceData,
  TraceMiddlewareOptions,
  TracePluginOptions,
  Tracer,
  TracerOptions,
} from "./trace/mod.ts";
