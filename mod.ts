/**
 * Auth, request tracing, typed RPC and cache revalidation for Deno servers.
 *
 * This entry point exports what most servers need. Each module's entry point
 * exports all of its names:
 *
 * | entry point                  | content                                             |
 * | ---------------------------- | --------------------------------------------------- |
 * | `@quartet/kit/app`           | the host, and adapters for other servers            |
 * | `@quartet/kit/auth`          | sign-in, sessions, guards                           |
 * | `@quartet/kit/auth/kv`       | sessions and rate limits in Deno KV                 |
 * | `@quartet/kit/auth/postgres` | sessions and rate limits in Postgres                |
 * | `@quartet/kit/auth/redis`    | sessions and rate limits in Redis                   |
 * | `@quartet/kit/data`          | the cache                                           |
 * | `@quartet/kit/data/kv`       | a cache for several processes, in Deno KV           |
 * | `@quartet/kit/data/redis`    | a cache for several machines, in Redis              |
 * | `@quartet/kit/rpc`           | procedures and routers                              |
 * | `@quartet/kit/rpc/client`    | the client, for pages and programs                  |
 * | `@quartet/kit/rpc/kv`        | rate limits in Deno KV                              |
 * | `@quartet/kit/rpc/postgres`  | channels and rate limits in Postgres                |
 * | `@quartet/kit/rpc/redis`     | channels and rate limits in Redis                   |
 * | `@quartet/kit/rpc/tanstack`  | options for TanStack Query                          |
 * | `@quartet/kit/trace`         | request tracing                                     |
 * | `@quartet/kit/trace/client`  | tracing in browsers                                 |
 * | `@quartet/kit/trace/noop`    | the same names without tracing, for production      |
 * | `@quartet/kit/dev`           | the dev command                                     |
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
