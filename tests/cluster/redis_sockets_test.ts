/**
 * Sockets to a Redis that accepts connections and never answers.
 *
 * @module
 */

import { assert, assertRejects } from "@std/assert";
import { createRedisSessionStore } from "@quartet/kit/auth/redis";
import { UnavailableError } from "@quartet/kit/app";
import { type ClientName, CLIENTS, makeClient } from "./clients.ts";
import { eventually, type RedisPlace } from "./redis_topology.ts";

/** Starts a server that holds connections open until the client closes them. */
function startSilentServer() {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const open = new Set<Deno.Conn>();
  let most = 0;
  const reading = (async () => {
    for await (const connection of listener) {
      open.add(connection);
      most = Math.max(most, open.size);
      (async () => {
        try {
          // Reads everything and answers nothing.
          for await (const _ of connection.readable);
        } catch {
          // The client closed it at once.
        }
        open.delete(connection);
      })();
    }
  })();
  return {
    port: listener.addr.port,
    get connections() {
      return open.size;
    },
    /** The most connections at once. */
    get most() {
      return most;
    },
    async [Symbol.asyncDispose]() {
      listener.close();
      for (const connection of open) connection.close();
      await reading;
    },
  };
}

const KINDS: Readonly<Record<string, (port: number) => RedisPlace>> = {
  "one server": (port) => ({ url: `redis://127.0.0.1:${port}` }),
  "a cluster": (port) => ({ nodes: [{ host: "127.0.0.1", port }] }),
  "a Sentinel": (port) => ({
    name: "main",
    sentinels: [{ host: "127.0.0.1", port }],
  }),
};

for (const [kind, placeOf] of Object.entries(KINDS)) {
  for (const name of CLIENTS) {
    // A connect() of `npm:redis` 5 can't succeed here, and a Sentinel client
    // needs it.
    if (kind === "a Sentinel" && name === "redis 5") continue;
    Deno.test(`close() leaves no socket to ${kind} open that never answers: ${name}`, () =>
      testSockets(name, placeOf));
  }
}

/** Tries to reach a silent server, and checks that no sockets remain. */
async function testSockets(
  name: ClientName,
  placeOf: (port: number) => RedisPlace,
): Promise<void> {
  await using server = startSilentServer();
  await using made = makeClient(name, placeOf(server.port));
  const store = createRedisSessionStore({
    client: made.client,
    timeout: 0.05,
    onError() {},
  });
  for (let round = 0; round < 15; round++) {
    await assertRejects(async () => await store.get("id"), UnavailableError);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const { most } = server;
  assert(most > 0 && most <= 12, `${most} sockets were open at once`);
  await store.close!();
  await eventually("all are closed", () => server.connections === 0);
}
