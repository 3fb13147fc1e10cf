import { createApp } from "@quartet/kit/app";
import { createRouter, errors, procedure, rpcPlugin } from "@quartet/kit/rpc";
import { createClient, RPCClientError } from "@quartet/kit/rpc/client";
import { deepEqual, equal, rejects } from "node:assert/strict";
import { z } from "zod";

const router = createRouter({
  greet: procedure.query(z.string(), ({ input }) => `hello ${input}`),
  refuse: procedure.mutation(() => {
    throw errors.forbidden("no");
  }),
  count: procedure.subscription(async function* () {
    yield 1;
    yield 2;
  }),
});
const app = createApp({ plugins: [rpcPlugin({ router })] });
const server = await app.serve({
  hostname: "127.0.0.1",
  port: 0,
  onListen: () => {},
});
const rpc = createClient<typeof router>({
  httpEndpoint: `http://127.0.0.1:${server.address.port}/api/rpc`,
});

const greeting: string = await rpc.greet.query("Ada");
equal(greeting, "hello Ada");
await rejects(
  rpc.refuse.mutate(),
  (error) => error instanceof RPCClientError && error.code === "FORBIDDEN",
);
const counted: number[] = await Array.fromAsync(rpc.count.subscribe());
deepEqual(counted, [1, 2]);
await server.shutdown();

console.log("@quartet/kit/rpc/client works");
