import { assert, assertEquals } from "@std/assert";
import { startDeno } from "../helpers.ts";
import { hasRedisServer, needsRedis, startRedis } from "../redis_server.ts";

const PROCESS = new URL("limit_process.ts", import.meta.url).pathname;

/**
 * Starts processes that share a store, and checks that together they allow as
 * much as one.
 *
 * @param skews The errors of their clocks in milliseconds.
 */
async function assertOneLimit(
  store: readonly [kind: string, place: string],
  skews: readonly number[],
): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const children = skews.map((skew) =>
    stack.use(startDeno(["run", "-A", PROCESS, ...store, `${skew}`]))
  );
  const origins = await Promise.all(children.map(async (child) => {
    const [, port] = await child.printed(/port (\d+)/);
    return `http://127.0.0.1:${port}`;
  }));
  const ask = async (i: number, path: string, body?: string) => {
    const url = `${origins[i % origins.length]}${path}`;
    const init = body === undefined ? {} : { method: "POST", body };
    const response = await fetch(url, init);
    await response.body?.cancel();
    return [response.status, Number(response.headers.get("retry-after"))];
  };
  const many = (count: number, fn: (i: number) => Promise<number[]>) =>
    Promise.all(Array.from({ length: count }, (_, i) => fn(i)));

  const calls = await many(300, (i) => ask(i, "/api/rpc?path=call"));
  assertEquals(calls.filter(([status]) => status === 200).length, 100);
  for (const [status, seconds] of calls) {
    if (status === 200) continue;
    assertEquals(status, 429);
    assert(seconds! > 30 && seconds! <= 60, `${seconds} s`);
  }

  const guess = JSON.stringify({ email: "ada@example.com", password: "x" });
  const pending = await many(30, (i) => ask(i, "/sign-in", guess));
  const guessed = pending.filter(([status]) => status === 401).length;
  assertEquals(guessed, 10);
  for (let i = 0; i < skews.length; i++) {
    const [status, seconds] = await ask(i, "/sign-in", guess);
    assertEquals(status, 429);
    assert(seconds! > 14 * 60 && seconds! <= 15 * 60, `${seconds} s`);
  }
}

Deno.test({
  name: needsRedis(
    "Three processes with clocks hours apart share one limit in Redis",
    hasRedisServer,
  ),
  ignore: !hasRedisServer,
  async fn() {
    await using redis = await startRedis();
    await assertOneLimit(["redis", redis.url], [0, 3_600_000, -3_600_000]);
  },
});

Deno.test("Three processes share one limit in Deno KV", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await assertOneLimit(["kv", `${folder}/kv`], [0, 0, 0]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
