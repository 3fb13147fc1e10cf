/**
 * Each function with options rejects an unknown option, states its path, and
 * lists the known ones. It accepts known options, also with `undefined`.
 */

import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { Redis } from "ioredis";
import * as app from "@quartet/kit/app";
import * as auth from "@quartet/kit/auth";
import { createKvSessionStore } from "@quartet/kit/auth/kv";
import { createPostgresSessionStore } from "@quartet/kit/auth/postgres";
import { createRedisSessionStore } from "@quartet/kit/auth/redis";
import * as data from "@quartet/kit/data";
import { createKvStore } from "@quartet/kit/data/kv";
import { createRedisStore } from "@quartet/kit/data/redis";
import * as rpc from "@quartet/kit/rpc";
import { createClient, createHTTPClient } from "@quartet/kit/rpc/client";
import { createKvRateLimitStore } from "@quartet/kit/rpc/kv";
import {
  createPostgresChannel,
  createPostgresRateLimitStore,
} from "@quartet/kit/rpc/postgres";
import {
  createRedisChannel,
  createRedisRateLimitStore,
} from "@quartet/kit/rpc/redis";
import * as trace from "@quartet/kit/trace";
import { initClientTracing } from "@quartet/kit/trace/client";
import { expectTrace, recordTrace } from "@quartet/kit/trace/testing";
import pg from "pg";
import { createClient as createRedisClient } from "redis";

interface Case {
  readonly what: string;
  /** Valid options. */
  readonly options: Record<string, unknown>;
  /** The key of `options` that gets the unknown option. Default: `options`. */
  readonly at?: string;
  /** The path of the options in the message. Default: `at`. */
  readonly called?: string;
  /** The start of the message. */
  readonly cannot: string;
  /** All known names. */
  readonly names: string;
  // deno-lint-ignore no-explicit-any -- wrong options are the point
  readonly call: (options: any) => unknown;
}

const connectPostgres = () => new pg.Client();
const SECRET = "a secret of at least thirty-two bytes";
const session = { secret: SECRET };
const handler = () => new Response("hello");
const later = () => Promise.resolve(null);
const kv = { getMany: later, atomic: later } as never;
const router = rpc.createRouter({ ping: rpc.procedure.query(() => "pong") });
const tracer = trace.createTracer();
const recorded = await recordTrace(() => {});
const context = new app.Context(new Request("http://localhost/"));
const oauth = {
  clientId: "id",
  clientSecret: "secret",
  redirectUri: "https://app.example/callback",
  scope: ["openid"],
  authorizationUrl: "https://id.example/authorize",
  tokenUrl: "https://id.example/token",
  userInfoUrl: "https://id.example/user",
  timeout: 1,
  fetch,
  profile: () => ({ id: "1" }),
};
const OAUTH =
  "id, name, clientId, clientSecret, redirectUri, scope, authorizationUrl, tokenUrl, userInfoUrl, timeout, fetch, profile";
const MEMORY = "maxEntries, maxBytes, maxEntryBytes, maxScopes";
const FRESHNESS =
  "tags, paths, staleWhileRevalidate, staleIfError, staleAfter, timeout, negativeMaxAge, jitter, clone";

const APP: Case[] = [
  {
    what: "createApp()",
    options: { plugins: [], routes: [], maxBodySize: 1 },
    cannot: "Cannot create app: ",
    names: "plugins, routes, trace, maxBodySize, onError",
    call: app.createApp,
  },
  {
    what: "a route",
    options: { path: "/a", handler, method: "POST", config: {} },
    called: "route",
    cannot: "Cannot add route /a: ",
    names: "path, method, handler, loader, action, config, maxBodySize",
    call: (route) => app.createApp().route(route),
  },
  {
    what: "withPlugins()",
    options: { maxBodySize: 1, onError() {} },
    cannot: "Cannot put plugins around a handler: ",
    names: "maxBodySize, onError",
    call: (options) => app.withPlugins([], handler, options),
  },
  {
    what: "serve()",
    options: { port: 0, signals: false, onListen() {} },
    cannot: "Cannot serve: ",
    names:
      "port, hostname, cert, key, reusePort, signal, signals, drain, shutdownTimeout, onListen",
    call: async (options) => {
      await using _ = app.serve({ fetch: handler }, options);
    },
  },
  {
    what: "healthPlugin()",
    options: { path: "/health", checks: {}, maxAge: 0 },
    cannot: "Cannot create health plugin: ",
    names: "path, checks, checkTimeout, maxAge, showDetails, onError",
    call: (options) => app.healthPlugin(options),
  },
  {
    what: "serve() of an app",
    options: { port: 0, signals: false, onListen() {} },
    cannot: "Cannot serve: ",
    names:
      "port, hostname, cert, key, reusePort, signal, signals, drain, shutdownTimeout, onListen",
    call: async (options) => {
      await using _ = await app.createApp().serve(options);
    },
  },
  {
    what: "toNode()",
    options: { webSocketServer: undefined },
    cannot: "Cannot serve on Node: ",
    names: "webSocketServer",
    call: (options) => app.toNode({ fetch: handler }, options),
  },
  {
    what: "createUpgrader()",
    options: { maxSocketsPerAddress: 1 },
    cannot: "Cannot create upgrader: ",
    names: "maxSocketsPerAddress",
    call: (options) => app.createUpgrader({ message() {} }, options),
  },
];

const plugin = {
  cannot: "Cannot create auth plugin: ",
  call: auth.createAuthPlugin,
};
const guarded = "Cannot guard a route by ";

const AUTH: Case[] = [
  {
    ...plugin,
    what: "createAuthPlugin()",
    options: { session, providers: [], debug: false },
    names:
      "secret, sessionDuration, providers, oauthRoutes, session, callbacks, cookie, debug, onEvent, signInLimiter, address, trustedOrigins, now",
  },
  {
    ...plugin,
    what: "session of createAuthPlugin()",
    options: { session: { ...session, maxAge: 60, strategy: "jwt" } },
    at: "session",
    names:
      "secret, strategy, maxAge, updateAge, absoluteMaxAge, clockTolerance, issuer, audience, store, fallback",
  },
  {
    ...plugin,
    what: "oauthRoutes of createAuthPlugin()",
    options: {
      session,
      providers: [auth.github({ clientId: "id", clientSecret: "secret" })],
      oauthRoutes: { path: "/in" },
    },
    at: "oauthRoutes",
    names: "path, origin, home, onError",
  },
  {
    ...plugin,
    what: "cookie of createAuthPlugin()",
    options: { session, cookie: { httpOnly: true } },
    at: "cookie",
    names: "name, secure, sameSite, domain, path, httpOnly",
  },
  {
    ...plugin,
    what: "callbacks of createAuthPlugin()",
    options: { session, callbacks: { onSignIn() {} } },
    at: "callbacks",
    names:
      "onSessionCreated, onSessionValidate, onSignIn, onSignOut, jwt, session",
  },
  {
    what: "requireAuth()",
    options: { redirect: "/in" },
    cannot: `${guarded}requireAuth(): `,
    names: "redirect, unauthorizedResponse",
    call: auth.requireAuth,
  },
  {
    what: "unauthorizedResponse of requireAuth()",
    options: { unauthorizedResponse: { status: 401, body: "no" } },
    at: "unauthorizedResponse",
    cannot: `${guarded}requireAuth(): `,
    names: "status, body",
    call: auth.requireAuth,
  },
  {
    what: "requireRoles()",
    options: { requireAll: true },
    cannot: `${guarded}requireRoles(): `,
    names: "redirect, unauthorizedResponse, requireAll",
    call: (options) => auth.requireRoles(["a"], options),
  },
  {
    what: "unauthorizedResponse of requireRoles()",
    options: { unauthorizedResponse: { status: 401, body: "no" } },
    at: "unauthorizedResponse",
    cannot: `${guarded}requireRoles(): `,
    names: "status, body",
    call: (options) => auth.requireRoles(["a"], options),
  },
  {
    what: "withAuth()",
    options: { roles: ["a"] },
    cannot: `${guarded}withAuth(): `,
    names: "roles",
    call: (options) => auth.withAuth(handler, options),
  },
  {
    what: "credentials()",
    options: { id: "a", name: "A", authorize: later },
    cannot: "Cannot create credentials provider: ",
    names: "id, name, authorize",
    call: auth.credentials,
  },
  {
    what: "apiKey()",
    options: { validate: later, header: "x-key", queryParam: "key" },
    cannot: "Cannot create API-key provider: ",
    names: "id, name, validate, header, queryParam",
    call: auth.apiKey,
  },
  {
    what: "mock()",
    options: { user: { id: "1" }, delay: 0 },
    cannot: "Cannot create mock provider: ",
    names: "user, session, delay",
    call: auth.mock,
  },
  {
    what: "github()",
    options: oauth,
    cannot: "Cannot create GitHub provider: ",
    names: `${OAUTH}, enterprise`,
    call: auth.github,
  },
  {
    what: "enterprise of github()",
    options: { ...oauth, enterprise: { baseUrl: "https://a.example" } },
    at: "enterprise",
    cannot: "Cannot create GitHub provider: ",
    names: "baseUrl",
    call: auth.presetCodeHost,
  },
  {
    what: "google()",
    options: oauth,
    cannot: "Cannot create Google provider: ",
    names: `${OAUTH}, hostedDomain, issuer, jwksUrl`,
    call: auth.google,
  },
  {
    what: "discord()",
    options: { ...oauth, guildId: "1" },
    cannot: "Cannot create Discord provider: ",
    names: `${OAUTH}, guildId`,
    call: auth.discord,
  },
  {
    what: "oauth()",
    options: { ...oauth, id: "a", name: "A" },
    cannot: "Cannot create OAuth provider: ",
    names: `${OAUTH}, issuer, profileUrl, idToken, clientAuthentication`,
    call: auth.oauth,
  },
  {
    what: "idToken of oauth()",
    options: {
      ...oauth,
      id: "a",
      name: "A",
      idToken: {
        issuer: "https://id.example",
        jwksUrl: "https://id.example/keys",
      },
    },
    at: "idToken",
    cannot: "Cannot create OAuth provider: ",
    names: "issuer, jwksUrl, algorithms",
    call: auth.oauth,
  },
  {
    what: "rateLimitSignIn()",
    options: { perAccount: 1 },
    cannot: "Cannot create sign-in limiter: ",
    names:
      "perAccountAndAddress, perAccount, perAddress, maxPendingPerAddress, windowMs, account, store, name, fallback, maxKeys, now",
    call: auth.rateLimitSignIn,
  },
  {
    what: "hashPassword()",
    options: { ln: 10 },
    cannot: "Cannot hash password: ",
    names: "ln, r, p",
    call: (options) => auth.hashPassword("a", options),
  },
  {
    what: "verifyPassword()",
    options: { ln: 10 },
    cannot: "Cannot verify password: ",
    names: "ln, r, p",
    call: (options) => auth.verifyPassword("a", null, options),
  },
  {
    what: "needsRehash()",
    options: { ln: 10 },
    cannot: "Cannot check whether a password needs a new hash: ",
    names: "ln, r, p",
    call: (options) =>
      auth.needsRehash(
        `$scrypt$ln=10,r=8,p=1$${"A".repeat(22)}$${"A".repeat(43)}`,
        options,
      ),
  },
  {
    what: "createMemorySessionStore()",
    options: { maxSessions: 1 },
    cannot: "Cannot create session store: ",
    names: "maxSessions, maxSessionsPerUser, now",
    call: auth.createMemorySessionStore,
  },
  {
    what: "createKvSessionStore()",
    options: { kv, prefix: ["a"] },
    cannot: "Cannot create session store: ",
    names: "kv, prefix, interval, timeout, now",
    call: createKvSessionStore,
  },
  {
    what: "createRedisSessionStore()",
    options: { client: createRedisClient(), prefix: "a:" },
    cannot: "Cannot create session store: ",
    names: "client, timeout, onError, name, prefix, now",
    call: createRedisSessionStore,
  },
  {
    what: "createPostgresSessionStore()",
    options: { connect: connectPostgres, schema: "a" },
    cannot: "Cannot create session store: ",
    names:
      "connect, schema, timeout, onError, maxConnections, name, notifications, now",
    call: createPostgresSessionStore,
  },
];

const DATA: Case[] = [
  {
    what: "createCache()",
    options: { maxEntries: 1, storeTimeout: 1 },
    cannot: "Cannot create cache: ",
    names: `${MEMORY}, store, storeTimeout, onError, now, random`,
    call: data.createCache,
  },
  {
    what: "configureCache()",
    options: { maxEntries: 1 },
    cannot: "Cannot create cache: ",
    names: `${MEMORY}, store, storeTimeout, onError, now, random`,
    call: data.configureCache,
  },
  {
    what: "createMemoryStore()",
    options: { maxEntries: 1 },
    cannot: "Cannot create memory store: ",
    names: MEMORY,
    call: data.createMemoryStore,
  },
  {
    what: "createKvStore()",
    options: { kv, name: "a" },
    cannot: "Cannot create KV store: ",
    names:
      `${MEMORY}, name, lockTime, maxStaleness, strict, now, kv, interval, timeout`,
    call: createKvStore,
  },
  {
    what: "createRedisStore()",
    options: { client: createRedisClient(), name: "a" },
    cannot: "Cannot create Redis store: ",
    names:
      `${MEMORY}, name, lockTime, maxStaleness, strict, now, client, timeout`,
    call: createRedisStore,
  },
  {
    what: "cached()",
    options: { maxAge: 1, tags: ["a"] },
    cannot: "Cannot call cached(): ",
    names: `${FRESHNESS}, maxAge`,
    call: (options) =>
      data.cached(crypto.randomUUID(), () => Promise.resolve(1), options),
  },
  {
    what: "unstable_cache()",
    options: { revalidate: 1, tags: ["a"] },
    cannot: "Cannot create cached function: ",
    names: `${FRESHNESS}, revalidate`,
    call: (options) => data.unstable_cache(later, ["a"], options),
  },
  {
    what: "cacheResponse()",
    options: { maxAge: 1, vary: [] },
    cannot: "Cannot create response cache: ",
    names:
      "maxAge, tags, vary, ignoreCookies, staleWhileRevalidate, staleIfError, clientMaxAge",
    call: data.cacheResponse,
  },
];

const RPC: Case[] = [
  {
    what: "createRouter()",
    options: { maxBodySize: 1 },
    cannot: "Cannot create router: ",
    names:
      "transformer, onError, maxBodySize, maxBatchSize, maxSubscriptions, maxMessageSize",
    call: (options) => rpc.createRouter({}, options),
  },
  {
    what: "rpcPlugin()",
    options: { router, endpoint: "/rpc" },
    cannot: "Cannot create RPC plugin: ",
    names:
      "router, endpoint, trustedOrigins, maxSocketsPerAddress, endWithSession",
    call: rpc.rpcPlugin,
  },
  {
    what: "rateLimit()",
    options: { limit: 1, windowMs: 1 },
    cannot: "Cannot create rate limit: ",
    names: "limit, windowMs, key, store, name, fallback, maxKeys, now",
    call: rpc.rateLimit,
  },
  {
    what: "createKvRateLimitStore()",
    options: { kv, name: "a" },
    cannot: "Cannot create rate limit store: ",
    names: "kv, name, timeout, onError, now",
    call: createKvRateLimitStore,
  },
  {
    what: "createRedisRateLimitStore()",
    options: { client: new Redis({ lazyConnect: true }), name: "a" },
    cannot: "Cannot create rate limit store: ",
    names: "client, timeout, onError, name",
    call: createRedisRateLimitStore,
  },
  {
    what: "createPostgresRateLimitStore()",
    options: { connect: connectPostgres, name: "a" },
    cannot: "Cannot create rate limit store: ",
    names: "connect, schema, timeout, onError, maxConnections, name",
    call: createPostgresRateLimitStore,
  },
  {
    what: "createPostgresChannel()",
    options: { connect: connectPostgres, name: "a" },
    cannot: "Cannot create channel: ",
    names:
      "connect, schema, timeout, onError, name, table, history, transformer, random",
    call: createPostgresChannel,
  },
  {
    what: "createCaller()",
    options: { request: context.request },
    cannot: "Cannot create caller: ",
    names: "request, signal, responseHeaders",
    call: (options) => rpc.createCaller(router, context, options),
  },
  {
    what: "createChannel()",
    options: { history: 1 },
    cannot: "Cannot create channel: ",
    names: "history, random",
    call: rpc.createChannel,
  },
  {
    what: "subscribe() of a channel",
    options: { lastEventId: "a" },
    cannot: "Cannot subscribe to channel: ",
    names: "lastEventId",
    call: (options) =>
      rpc.createChannel().subscribe(AbortSignal.abort(), options),
  },
  {
    what: "createRedisChannel()",
    options: { client: createRedisClient(), name: "a" },
    cannot: "Cannot create channel: ",
    names: "client, timeout, onError, name, history, transformer",
    call: createRedisChannel,
  },
  {
    what: "createOpenAPIDocument()",
    options: { title: "A", version: "1" },
    cannot: "Cannot create OpenAPI document: ",
    names: "title, version, description, endpoint, servers, toJSONSchema",
    call: (options) => rpc.createOpenAPIDocument(router, options),
  },
  {
    what: "servers of createOpenAPIDocument()",
    options: { title: "A", version: "1", servers: { url: "https://a" } },
    at: "servers",
    called: "servers[0]",
    cannot: "Cannot create OpenAPI document: ",
    names: "url, description",
    call: (options) =>
      rpc.createOpenAPIDocument(router, {
        ...options,
        servers: [options.servers],
      }),
  },
];

const TRACE: Case[] = [
  {
    what: "createTracer()",
    options: { maxTraces: 1 },
    cannot: "Cannot create tracer: ",
    names: "maxTraces, maxSpansPerTrace, layers, minDurationMs, clock, random",
    call: trace.createTracer,
  },
  {
    what: "traceMiddleware()",
    options: { exclude: [] },
    cannot: "Cannot trace requests: ",
    names: "exclude, recordHeaders, sample, trustParent",
    call: (options) => trace.traceMiddleware(tracer, options),
  },
  {
    what: "tracePlugin()",
    options: { exclude: [], authorize: () => true },
    cannot: "Cannot create trace plugin: ",
    names:
      "exclude, recordHeaders, sample, trustParent, authorize, maxSocketsPerAddress",
    call: (options) => trace.tracePlugin(tracer, options),
  },
  {
    what: "createTracesAPIHandler()",
    options: { authorize: () => true },
    cannot: "Cannot create traces API handler: ",
    names: "authorize, collector",
    call: (options) => trace.createTracesAPIHandler(tracer, options),
  },
  {
    what: "createTraceWebSocket()",
    options: { authorize: () => true },
    cannot: "Cannot create trace socket: ",
    names: "authorize, collector, now, maxSocketsPerAddress",
    call: (options) => trace.createTraceWebSocket(tracer, options),
  },
  {
    what: "createCollector()",
    options: { maxSpans: 1 },
    cannot: "Cannot create collector: ",
    names: "maxSpans, now",
    call: (options) => trace.createCollector(tracer, options),
  },
  {
    what: "createViewerHandler()",
    options: { authorize: () => true },
    cannot: "Cannot create viewer handler: ",
    names: "authorize",
    call: trace.createViewerHandler,
  },
  {
    what: "createCLIReporter()",
    options: { write() {}, color: false },
    cannot: "Cannot create CLI reporter: ",
    names: "write, color, slowMs, width, viewerURL",
    call: (options) => trace.createCLIReporter(tracer, options).close(),
  },
  {
    what: "createOTLPExporter()",
    options: { url: "http://localhost:4318" },
    cannot: "Cannot create OTLP exporter: ",
    names:
      "url, headers, serviceName, resource, batch, gzip, onError, fetch, timers",
    call: trace.createOTLPExporter,
  },
  {
    what: "batch of createOTLPExporter()",
    options: { url: "http://localhost:4318", batch: { maxSize: 1 } },
    at: "batch",
    cannot: "Cannot create OTLP exporter: ",
    names: "maxSize, maxDelayMs, maxQueue, maxQueueSpans, maxInFlight",
    call: trace.createOTLPExporter,
  },
  {
    what: "toOTLP()",
    options: { serviceName: "a" },
    cannot: "Cannot write OTLP: ",
    names: "serviceName",
    call: (options) => trace.toOTLP([], options),
  },
  {
    what: "tracedAdapter()",
    options: { system: "sqlite" },
    cannot: "Cannot trace a database: ",
    names: "system, namespace",
    call: (options) => trace.tracedAdapter({ query() {} }, options),
  },
  {
    what: "traceQuery()",
    options: { system: "sqlite" },
    cannot: "Cannot trace a query: ",
    names: "system, namespace",
    call: (options) => trace.traceQuery("SELECT 1", () => 1, options),
  },
  {
    what: "tracedFetch()",
    options: { trustedOrigins: "*" },
    cannot: "Cannot trace fetch: ",
    names: "trustedOrigins, fetch",
    call: trace.tracedFetch,
  },
  {
    what: "recordTrace()",
    options: { tracer },
    cannot: "Cannot record trace: ",
    names: "tracer",
    call: (options) => recordTrace(() => {}, options),
  },
  {
    what: "queries()",
    options: { exactly: 0 },
    cannot: "Cannot check queries: ",
    names: "exactly, min, max, repeated",
    call: (options) => expectTrace(recorded.trace).queries(options),
  },
  {
    what: "span()",
    options: { exactly: 0 },
    cannot: "Cannot check spans: ",
    names: "layer, exactly, min, max",
    call: (options) => expectTrace(recorded.trace).span("a", options),
  },
  {
    what: "noSpan()",
    options: { layer: "rpc" },
    cannot: "Cannot check spans: ",
    names: "layer",
    call: (options) => expectTrace(recorded.trace).noSpan("a", options),
  },
  {
    what: "cache()",
    options: { hits: 0 },
    cannot: "Cannot check cache: ",
    names: "hits, stale, misses",
    call: (options) => expectTrace(recorded.trace).cache(options),
  },
];

/** Returns the error that a call throws or rejects with. */
async function errorOf(run: () => unknown): Promise<Error> {
  return await assertRejects(async () => void await run(), Error);
}

for (
  const { what, options, at, called = at, ...rest } of [
    ...APP,
    ...AUTH,
    ...DATA,
    ...RPC,
    ...TRACE,
  ]
) {
  const { cannot, names, call } = rest;
  const withKey = (key: string, value: unknown) => {
    const inner = at === undefined ? options : options[at] as object;
    const changed = Object.defineProperties({}, {
      ...Object.getOwnPropertyDescriptors(inner),
      [key]: { value, enumerable: true },
    });
    return at === undefined ? changed : { ...options, [at]: changed };
  };

  Deno.test(`${what} accepts known options, and rejects an unknown one by its path`, async () => {
    await call(options);
    const known = names.split(", ");
    const inner = (at === undefined ? options : options[at]) as Record<
      string,
      unknown
    >;
    for (const name of known) {
      if (!(name in inner)) await call(withKey(name, undefined));
    }
    for (const [key, value] of [["surprise", 1], ["toString", undefined]]) {
      const error = await errorOf(() => call(withKey(String(key), value)));
      const path = called === undefined ? key : `${called}.${key}`;
      assertEquals(
        error.message,
        `${cannot}unknown option "${path}". Known options: ${names}`,
      );
      assert(error instanceof TypeError);
    }
    // A typo: an extra underscore.
    const [name] = known;
    const typo = `${name![0]}_${name!.slice(1)}`;
    const error = await errorOf(() => call(withKey(typo, 1)));
    const path = called === undefined ? typo : `${called}.${typo}`;
    assertEquals(
      error.message,
      `${cannot}unknown option "${path}"; did you mean ${name}? Known options: ${names}`,
    );
  });

  Deno.test(`${what} rejects options that aren't an object`, async () => {
    for (const wrong of [null, 1, "text", []]) {
      if (wrong === null && at !== undefined) continue;
      const error = await errorOf(() =>
        call(at === undefined ? wrong : { ...options, [at]: wrong })
      );
      assert(
        error instanceof TypeError || error instanceof auth.AuthError,
        String(error),
      );
    }
  });

  if (at !== undefined) continue;
  Deno.test(`${what} checks only own enumerable keys of its options`, async () => {
    // The test passes if the call doesn't throw.
    const inherited = Object.assign(Object.create({ surprise: 1 }), options);
    Object.defineProperty(inherited, "hidden", { value: 1 });
    inherited[Symbol("key")] = 1;
    await call(inherited);
  });
}

Deno.test("Values of inherited options are checked like own ones", () => {
  const secret = "a secret of at least thirty-two bytes";
  const wrong: [name: string, create: () => unknown][] = [
    ["session.strategy", () =>
      auth.createAuthPlugin({
        session: Object.create({ secret, strategy: "hybird" }),
        providers: [],
      })],
    ["session.absoluteMaxAge", () =>
      auth.createAuthPlugin({
        session: Object.create({ secret, absoluteMaxAge: NaN }),
        providers: [],
      })],
    [
      "perAccount",
      () => auth.rateLimitSignIn(Object.create({ perAccount: NaN })),
    ],
    ["maxEntries", () => data.createCache(Object.create({ maxEntries: NaN }))],
    [
      "redirectUri",
      () =>
        auth.github(Object.assign(Object.create({ redirectUri: "/back" }), {
          clientId: "id",
          clientSecret: "secret",
        })),
    ],
  ];
  for (const [name, create] of wrong) {
    assertThrows(create, TypeError, `${name} must be `);
  }
});

Deno.test("OAuth providers use inherited options", () => {
  class Settings {
    readonly clientId = "id";
    readonly clientSecret = "secret";
    get redirectUri() {
      return "https://shop.example/back";
    }
  }
  const settings = new Settings();
  const providers = [
    auth.github(settings),
    auth.google(settings),
    auth.discord(settings),
  ];
  for (const { redirectUri } of providers) {
    assertEquals(redirectUri, settings.redirectUri);
  }
});

Deno.test("Channels use inherited options", async () => {
  const refused = () => Promise.reject(new Error("it is away"));
  const used: string[] = [];
  const copy = { connect: refused, on() {}, disconnect() {} };
  const client = {
    ...copy,
    duplicate() {
      used.push("client");
      return copy;
    },
    call() {},
    subscribe() {},
  };
  const onError = () => void used.push("onError");
  await using redis = createRedisChannel(
    Object.assign(Object.create({ client, onError }), { name: "a" }),
  );
  await assertRejects(() => redis.publish("a"), app.UnavailableError);
  assertEquals(used, ["client", "onError"]);

  let names: readonly unknown[] = [];
  const connect = () => ({
    connect: () => Promise.resolve(),
    on() {},
    end: () => Promise.resolve(),
    escapeIdentifier() {},
    query({ values }: { readonly values: readonly unknown[] }) {
      names = values;
      return Promise.reject(new Error("it is away"));
    },
  });
  await using postgres = createPostgresChannel(
    Object.assign(
      Object.create({ schema: "inherited", table: "messages" }),
      { connect, name: "a", timeout: 0.1, onError() {} },
    ),
  );
  await assertRejects(() => postgres.publish("a"));
  // Asked for first: the last object of the tables, and their schema. And what
  // begins the channel's statements, and their time limit in milliseconds.
  const tag = "/* @quartet/kit inherited.messages */ ";
  assertEquals(names, ["inherited.messages", "inherited", tag, "100"]);
});

Deno.test("createClient() and createHTTPClient() reject unknown options and list the known ones", () => {
  for (const create of [createClient, createHTTPClient]) {
    assertThrows(
      () => create({ httpEndpoint: "/api/rpc", surprise: 1 } as never),
      TypeError,
      "Cannot create client: unknown option surprise, known: httpEndpoint,fetch",
    );
  }
});

Deno.test("createCache() rejects limits together with a store", () => {
  for (const name of ["maxEntries", "maxBytes", "maxEntryBytes", "maxScopes"]) {
    assertThrows(
      () => data.createCache({ store: data.createMemoryStore(), [name]: 1 }),
      TypeError,
      `Cannot create cache: ${name} must be absent with a store, received 1`,
    );
  }
});

Deno.test("initClientTracing() rejects unknown options", () => {
  assertThrows(
    () => initClientTracing({ endpont: "/traces" } as never),
    TypeError,
    'Cannot trace page: unknown option "endpont"',
  );
});

Deno.test("revalidate() rejects unknown options, and its handler answers 400", async () => {
  const options = { tag: ["a"] };
  const error = await assertRejects(
    () => data.revalidate(options as never),
    TypeError,
  );
  assertEquals(
    error.message,
    'Cannot revalidate: unknown option "tag"; did you mean tags? Known options: tags, paths, all',
  );
  const revalidate = data.createRevalidationHandler("a secret");
  const response = await revalidate(
    new Request("http://localhost/", {
      method: "POST",
      headers: {
        authorization: "Bearer a secret",
        "content-type": "application/json",
      },
      body: JSON.stringify(options),
    }),
  );
  assertEquals(response.status, 400);
  await response.body?.cancel();
});

for (
  const [what, run, message] of [
    [
      "session.maxage",
      () =>
        auth.createAuthPlugin({ session: { ...session, maxage: 60 } as never }),
      '"session.maxage"; did you mean maxAge?',
    ],
    [
      "cookie.http_only",
      () =>
        auth.createAuthPlugin({
          session,
          cookie: { http_only: true } as never,
        }),
      '"cookie.http_only"; did you mean httpOnly?',
    ],
    [
      "requireAuth({ roles })",
      () => auth.requireAuth({ roles: ["admin"] } as never),
      'unknown option "roles". Known options: redirect, unauthorizedResponse. To require roles, use requireRoles(["admin"])',
    ],
    [
      "the hander of a route",
      () => app.createApp().route({ path: "/", hander: handler } as never),
      '"route.hander"; did you mean handler?',
    ],
    [
      "a router in place of rpcPlugin()'s options",
      () => rpc.rpcPlugin(router as never),
      "as in rpcPlugin({ router }), received the router itself",
    ],
    [
      "a key of 100,000 letters",
      () => app.createApp({ ["x".repeat(100_000)]: 1 } as never),
      `unknown option "${"x".repeat(79)}…". Known options: plugins`,
    ],
  ] as const
) {
  Deno.test(`${what} is rejected with a hint`, () => {
    assertThrows(run, Error, message);
  });
}

Deno.test("Names of Redis stores can't create empty hash tags", () => {
  const client = createRedisClient();
  for (
    const create of [
      createRedisSessionStore,
      createRedisRateLimitStore,
      createRedisStore,
    ]
  ) {
    assertThrows(
      () => create({ client, name: "}a" }),
      TypeError,
      'name must be a non-empty string that doesn\'t begin with "}", received "}a"',
    );
  }
});
