/**
 * One of several processes of an app that keeps sessions, messages, limits and
 * cached values in Redis. The argument is a {@linkcode KitAppOptions} as JSON.
 *
 * @module
 */

import { type Context, createApp, healthPlugin } from "@quartet/kit/app";
import {
  createAuthPlugin,
  credentials,
  optionalAuth,
  requireAuth,
} from "@quartet/kit/auth";
import { createRedisSessionStore } from "@quartet/kit/auth/redis";
import { createCache } from "@quartet/kit/data";
import { createRedisStore } from "@quartet/kit/data/redis";
import {
  createRouter,
  errors,
  procedure,
  rateLimit,
  rpcPlugin,
} from "@quartet/kit/rpc";
import {
  createRedisChannel,
  createRedisRateLimitStore,
} from "@quartet/kit/rpc/redis";
import { z } from "zod";
import { type ClientName, makeClient } from "./clients.ts";
import type { RedisPlace } from "./redis_topology.ts";

export interface KitAppOptions {
  /** The Redis to connect to. */
  readonly place: RedisPlace;
  /** The client to use. Default: `redis 6`. */
  readonly client?: ClientName;
  /** The port to listen on. Default: a free one. */
  readonly port?: number;
  /** The origin that cached values are computed from: `GET <origin>/<key>`. */
  readonly origin: string;
  /** Number of messages that the channel keeps. Default: 100,000. */
  readonly history?: number;
}

/** Maximum calls of `limited` per name in ten minutes. */
export const LIMIT = 10;
/**
 * Maximum time, in seconds, that a process disconnected from Redis trusts its
 * memory.
 */
export const MAX_STALENESS = 1;
/** Figures that a process reports. Sizes are in bytes. */
export interface Figures {
  readonly rss: number;
  /** The live heap, after garbage collection. */
  readonly heap: number;
  readonly subscribers: number;
}

declare const gc: (() => void) | undefined;

export type Api = ReturnType<typeof createKitApp>["router"];

function createKitApp(options: KitAppOptions) {
  const { place, origin, history = 100_000 } = options;
  const made = makeClient(options.client ?? "redis 6", place);
  const { client } = made;

  const auth = createAuthPlugin({
    session: {
      secret: "a secret of the cluster, longer than thirty-two bytes",
      strategy: "hybrid",
      store: createRedisSessionStore({ client, name: "session" }),
    },
    providers: [
      credentials({
        authorize: ({ name }) => Promise.resolve({ id: `${name}` }),
      }),
    ],
  });
  const channel = createRedisChannel<number>({
    client,
    name: "news",
    history,
  });
  const cache = createCache({
    store: createRedisStore({
      client,
      name: "cache",
      maxStaleness: MAX_STALENESS,
      lockTime: 2,
    }),
  });
  const read = (key: string) =>
    cache.cached(key, async () => {
      const response = await fetch(`${origin}/${key}`);
      return await response.text();
    }, { maxAge: 600, tags: ["all"] });

  const limits = createRedisRateLimitStore({ client, name: "limits" });
  const limited = procedure.use(rateLimit({
    limit: LIMIT,
    store: limits,
    name: "limited",
    windowMs: 600_000,
    key: ({ ctx }) => (ctx as Context).request.headers.get("x-name")!,
  }));
  const router = createRouter({
    limited: limited.query(() => true),
    publish: procedure.mutation(
      z.number(),
      ({ input }) => channel.publish(input),
    ),
    news: procedure.subscription(({ signal, lastEventId }) =>
      channel.subscribe(signal, { lastEventId })
    ),
    mine: procedure.subscription(({ ctx, signal, lastEventId }) => {
      if (auth.getUser(ctx) === null) throw errors.unauthorized();
      return channel.subscribe(signal, { lastEventId });
    }),
    read: procedure.query(z.string(), ({ input }) => read(input)),
    invalidate: procedure.mutation(() => cache.revalidateTag("all")),
  });

  const app = createApp({
    plugins: [
      {
        name: "stores",
        async close() {
          await Promise.all([channel.close(), cache.close(), limits.close()]);
          await made[Symbol.asyncDispose]();
        },
      },
      healthPlugin(),
      auth,
      rpcPlugin({ router }),
    ],
    routes: [
      {
        path: "/sign-in",
        config: { ...optionalAuth() },
        action: async ({ request, context }) => {
          const body = await request.json();
          const session = await auth.getAuth(context)
            .signIn("credentials", body);
          return { sessionId: session.sessionId };
        },
      },
      {
        path: "/sign-out",
        config: { ...requireAuth() },
        action: async ({ context }) => {
          await auth.getAuth(context).signOut();
          return { ok: true };
        },
      },
      {
        path: "/revoke",
        action: async ({ request }) => ({
          count: await auth.revokeSessions((await request.json()).name),
        }),
      },
      {
        path: "/me",
        config: { ...requireAuth() },
        loader: ({ context }) => ({ name: auth.getUser(context)!.id }),
      },
      {
        path: "/figures",
        handler() {
          gc?.();
          const { rss, heapUsed: heap } = Deno.memoryUsage();
          const { subscribers } = channel;
          return Response.json(
            { rss, heap, subscribers } satisfies Figures,
          );
        },
      },
    ],
  });
  return { app, router, made };
}

if (import.meta.main) {
  const options = JSON.parse(Deno.args[0]!) as KitAppOptions;
  const { app, made } = createKitApp(options);
  // Other clients connect when the kit uses them.
  if (options.client === "redis 5" && "name" in options.place) {
    await made.connect();
  }
  await app.serve({
    port: options.port ?? 0,
    onListen: ({ port }) => console.log(`http://127.0.0.1:${port}`),
  });
}
