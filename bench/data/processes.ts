/**
 * Measures the time until an invalidation of one process is known in another,
 * over Redis and over Deno KV, and the time to read a value that another
 * process has computed. Without `redis-server` on the PATH, it measures Deno KV
 * only.
 *
 * Run it with `deno task bench data/processes`.
 *
 * @module
 */

import { createCache } from "@quartet/kit/data";
import { createKvStore } from "@quartet/kit/data/kv";
import { createRedisStore } from "@quartet/kit/data/redis";
import { createClient } from "redis";
import { hasRedisServer, startRedis } from "../../tests/redis_server.ts";
import { medianOf } from "../compare.ts";

const ROUNDS = 300;

/** A clock that all processes of a machine share. */
const now = () => performance.timeOrigin + performance.now();

async function openStore(place: string) {
  return place.startsWith("redis:")
    ? createRedisStore({ client: createClient({ url: place }), name: "bench" })
    : createKvStore({ kv: await Deno.openKv(place), name: "bench" });
}

if (Deno.args[0] === "hear") await hear(Deno.args[1]!);
else {
  if (hasRedisServer) {
    await using redis = await startRedis();
    await measure("Redis", redis.url);
  }
  const dir = await Deno.makeTempDir();
  await measure("Deno KV, asked each 50 ms", `${dir}/cache.db`);
  await Deno.remove(dir, { recursive: true });
}
// The databases stay open until the end.
Deno.exit(0);

/** Prints the time of each invalidation that it receives. */
async function hear(place: string): Promise<void> {
  const store = await openStore(place);
  await store.get!("k");
  let { version } = store.invalidations;
  const look = () => {
    if (store.invalidations.version !== version) console.log(now());
    version = store.invalidations.version;
    setImmediate(look);
  };
  console.log("ready");
  look();
  await new Promise(() => {});
}

async function measure(name: string, place: string): Promise<void> {
  const store = await openStore(place);
  const cache = createCache({ store });
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--lock=deno.lock",
      new URL(import.meta.url).href,
      "hear",
      place,
    ],
    stdout: "piped",
  }).spawn();
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  await lines.read();

  const heard: number[] = [];
  for (let i = 0; i < ROUNDS; i++) {
    // A random delay, to stay out of step with the other process.
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 60));
    const begin = now();
    await cache.revalidateTag("a");
    const { value } = await lines.read();
    heard.push(Number(value!.trim().split("\n").at(-1)) - begin);
  }
  child.kill("SIGKILL");
  await child.status;

  const computed: number[] = [];
  const found: number[] = [];
  const other = createCache({ store: await openStore(place) });
  for (let i = 0; i < ROUNDS; i++) {
    for (const [here, times] of [[cache, computed], [other, found]] as const) {
      const begin = now();
      await here.cached(`k${i}`, () => ({ id: i }), { maxAge: 60 });
      times.push(now() - begin);
      // Waits briefly for work that continues after the call.
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }
  const mean = heard.reduce((a, b) => a + b) / ROUNDS;
  const ms = (time: number) => `${time.toFixed(2)} ms`;
  console.log(`
${name}
  an invalidation is known elsewhere    ${ms(mean)} on average, ${
    ms(heard.toSorted((a, b) => a - b)[Math.floor(ROUNDS * 0.99)]!)
  } for 99 of 100
  a value that nobody has yet           ${ms(medianOf(computed))}
  a value that another process has      ${ms(medianOf(found))}`);
  await cache.close();
  await other.close();
}
