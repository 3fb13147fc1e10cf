/**
 * A user's code for the type checker: each entry point with its types.
 *
 * @module
 */

import { serve } from "@hono/node-server";
import { createApp, createTracer, tracePlugin } from "@quartet/kit";
import { toBun, toHono, toNode } from "@quartet/kit/app";
import type { ConnectionInfo, Server } from "@quartet/kit/app";
import { createAuthPlugin, credentials, getUser } from "@quartet/kit/auth";
import type { KvSessionStoreOptions } from "@quartet/kit/auth/kv";
import { createRedisSessionStore } from "@quartet/kit/auth/redis";
import { unstable_cache } from "@quartet/kit/data";
import { createKvStore } from "@quartet/kit/data/kv";
import { createRedisStore } from "@quartet/kit/data/redis";
import { dev } from "@quartet/kit/dev";
import { createRouter, procedure, rpcPlugin } from "@quartet/kit/rpc";
import { createClient } from "@quartet/kit/rpc/client";
import { createRedisChannel } from "@quartet/kit/rpc/redis";
import { queryOptions } from "@quartet/kit/rpc/tanstack";
import { createCLIReporter } from "@quartet/kit/trace";
import { initClientTracing } from "@quartet/kit/trace/client";
import { noopTracer } from "@quartet/kit/trace/noop";
import { expectTrace, recordTrace } from "@quartet/kit/trace/testing";
import { Hono } from "hono";
import { WebSocketServer } from "ws";
import { z } from "zod";

const router = createRouter({
  double: procedure.query(z.number(), ({ input }) => input * 2),
  user: procedure.query(({ ctx }) => getUser(ctx)?.id),
  count: procedure.subscription(async function* () {
    yield await Promise.resolve(1);
  }),
});
const rpc = createClient<typeof router>({ httpEndpoint: "/api/rpc" });
export const doubled: Promise<number> = rpc.double.query(21);
// @ts-expect-error -- a string isn't a number
export const wrong = () => rpc.double.query("21");

const kit = toHono(
  tracePlugin(createTracer()),
  createAuthPlugin({
    session: { secret: "a secret of at least thirty-two bytes" },
    providers: [credentials({ authorize: () => ({ id: "1" }) })],
  }),
  rpcPlugin({ router }),
);
const hono = new Hono();
hono.use(kit);

const webSocketServer = new WebSocketServer({ noServer: true });
const { fetch, upgrade } = toNode(hono, { webSocketServer });
export const start = () => serve({ fetch }).on("upgrade", upgrade);

const app = createApp();
export const bun = toBun(app);
export const address = (server: Server): number => server.address.port;
export const peer = ({ remoteAddr }: ConnectionInfo): string | undefined =>
  remoteAddr !== undefined && "hostname" in remoteAddr
    ? remoteAddr.hostname
    : undefined;

export const cached: () => Promise<number> = unstable_cache(
  () => Promise.resolve(1),
  ["one"],
);
export type Kv = KvSessionStoreOptions;
export const budget = async (): Promise<string> => {
  const { trace, result } = await recordTrace(() => Promise.resolve("done"));
  expectTrace(trace).queries({ max: 1 });
  return result;
};
export const others = {
  createCLIReporter,
  createKvStore,
  createRedisChannel,
  createRedisSessionStore,
  createRedisStore,
  queryOptions,
  dev,
  initClientTracing,
  noopTracer,
};
