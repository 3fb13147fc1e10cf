/** Sessions that end at one server end subscriptions at another. */

import { assert, assertEquals } from "@std/assert";
import { createMemorySessionStore, type SessionStore } from "@quartet/kit/auth";
import { createKvSessionStore } from "@quartet/kit/auth/kv";
import { createRedisSessionStore } from "@quartet/kit/auth/redis";
import { createClient } from "redis";
import { UNHURRIED } from "../helpers.ts";
import { anyRedis, hasRedis, needsRedis } from "../redis_server.ts";
import { unlessStalled } from "../stalls.ts";
import { startSessions, timesToEnd } from "./session_end.ts";

interface Stores extends AsyncDisposable {
  /** One store for each server. */
  readonly stores: readonly [SessionStore, SessionStore];
}

const nothing = () => Promise.resolve();

/** Keeps a file in memory if possible: a busy disk may take a second to write. */
function makeFile(): Promise<string> {
  return Deno.makeTempFile({ dir: "/dev/shm" })
    .catch(() => Deno.makeTempFile());
}

const STORES: Record<string, () => Promise<Stores>> = {
  "one memory store": () => {
    const store = createMemorySessionStore();
    const stores = [store, store] as const;
    return Promise.resolve({ stores, [Symbol.asyncDispose]: nothing });
  },
  "a store without onEnded": () => {
    const { onEnded: _, ...store } = createMemorySessionStore();
    const stores = [store, store] as const;
    return Promise.resolve({ stores, [Symbol.asyncDispose]: nothing });
  },
  "two handles of a KV file": async () => {
    const path = await makeFile();
    const here = await Deno.openKv(path);
    const there = await Deno.openKv(path);
    return {
      stores: [
        createKvSessionStore({ kv: here, timeout: UNHURRIED }),
        createKvSessionStore({ kv: there, timeout: UNHURRIED }),
      ],
      async [Symbol.asyncDispose]() {
        here.close();
        there.close();
        await Deno.remove(path);
      },
    };
  },
  Redis: async () => {
    const redis = await anyRedis();
    const name = `test-${crypto.randomUUID()}`;
    const open = () => {
      const client = createClient({ url: redis.url });
      return createRedisSessionStore({ client, name, timeout: UNHURRIED });
    };
    return {
      stores: [open(), open()],
      [Symbol.asyncDispose]: () => redis[Symbol.asyncDispose](),
    };
  },
};

for (const [name, open] of Object.entries(STORES)) {
  const isThere = name !== "Redis" || hasRedis;
  Deno.test({
    name: needsRedis(
      `1,000 subscriptions end within a second of a revocation elsewhere, with ${name}`,
      isThere,
    ),
    ignore: !isThere,
    fn: unlessStalled(async () => {
      await using opened = await open();
      const [here, there] = opened.stores;
      await using a = await startSessions({ session: { store: here } });
      await using b = await startSessions({ session: { store: there } });
      const times = await timesToEnd({
        users: Array.from({ length: 1_000 }, (_, i) => `user ${i}`),
        open: async (user) => await b.open(await a.signIn(user)),
        revoke: (user) => a.auth.revokeSessions(user),
      });
      assertEquals(times.length, 1_000);
      assert(times[989]! < 1_000, `p99 is ${times[989]} ms`);
    }),
  });
}
