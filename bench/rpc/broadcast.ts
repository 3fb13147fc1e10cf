/**
 * Measures many subscriptions in one process, each over its own socket,
 * compared with pub/sub of `npm:redis` and a loop: their memory, the time until
 * a message has reached all of them, and their return after the server was
 * killed.
 *
 * Run it with `deno task bench rpc/broadcast`. Arguments of the file: the
 * number of subscriptions (default 10,000), and the names of the candidates.
 *
 * @module
 */

import {
  createClient as createRPCClient,
  type SubscriptionHandlers,
} from "@quartet/kit/rpc/client";
import { createRedisChannel } from "@quartet/kit/rpc/redis";
import { createClient } from "redis";
import { freePort } from "../../tests/helpers.ts";
import { startRedis } from "../../tests/redis_server.ts";

const SUBSCRIPTIONS = Number(Deno.args[0] ?? 10_000);
const NAMES = Deno.args.length > 1
  ? Deno.args.slice(1)
  : ["bare", "@quartet/kit"];
const MESSAGES = 40;
/** Milliseconds between two messages. */
const PAUSE = 500;
/** Number of subscriptions that begin every 100 ms. */
const BATCH = 100;
/** Milliseconds after which missing subscriptions are given up. */
const PATIENCE = 60_000;

interface Message {
  readonly number: number;
  readonly sentAt: number;
}

interface Subscriber {
  /** The number of the last message. */
  last: number;
  /** Messages that were lost or duplicated. */
  wrong: number;
  readonly stop: () => void;
}

interface News {
  readonly news: {
    subscribe(
      input: undefined,
      handlers: SubscriptionHandlers<Message>,
    ): () => void;
  };
}

/** A clock that all processes of a machine share. */
const now = () => performance.timeOrigin + performance.now();
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

for (const name of NAMES) {
  await using redis = await startRedis();
  await measure(name, redis.url);
}
// Sockets of the killed server may still be closing.
Deno.exit(0);

async function measure(name: string, url: string): Promise<void> {
  const port = freePort();
  let server = await startServer(name, url, port);
  const publish = await createPublisher(name, url);
  const delays: number[] = [];
  let errors = 0;
  let heard = 0;
  const subscribers: Subscriber[] = [];
  const before = await memoryOf(server.pid);

  for (let i = 0; i < SUBSCRIPTIONS; i++) {
    const client = createRPCClient<unknown>({
      httpEndpoint: `http://127.0.0.1:${port}/api/rpc`,
    }) as unknown as News;
    const subscriber: Subscriber = {
      last: 0,
      wrong: 0,
      stop: client.news.subscribe(undefined, {
        onData({ number, sentAt }) {
          delays.push(now() - sentAt);
          if (number !== subscriber.last + 1 && subscriber.last !== 0) {
            subscriber.wrong++;
          }
          subscriber.last = number;
          heard++;
        },
        onError: () => errors++,
      }),
    };
    subscribers.push(subscriber);
    if (i % BATCH === BATCH - 1) await pause(100);
  }
  let number = 0;
  const send = () => publish({ number: ++number, sentAt: now() });
  const areBack = () => subscribers.every(({ last }) => last >= number - 1);
  do {
    await send();
    await pause(PAUSE);
  } while (!areBack());
  const after = await memoryOf(server.pid);

  delays.length = 0;
  heard = 0;
  for (let i = 0; i < MESSAGES; i++) {
    await send();
    await pause(PAUSE);
  }
  const expected = MESSAGES * SUBSCRIPTIONS;
  for (let i = 0; i < 100 && heard < expected; i++) await pause(100);
  delays.sort((a, b) => a - b);
  const lost = expected - heard;

  server.kill("SIGKILL");
  await server.status;
  const killedAt = now();
  server = await startServer(name, url, port);
  const storm: Record<string, number> = {};
  while (now() - killedAt < PATIENCE) {
    await send();
    await pause(100);
    const back = subscribers.filter(({ last }) => last >= number - 3).length;
    for (const share of [50, 99, 100]) {
      if (back >= SUBSCRIPTIONS * share / 100) {
        storm[`${share} %`] ??= Math.round(now() - killedAt);
      }
    }
    if (back === SUBSCRIPTIONS) break;
  }
  await pause(500);

  console.log(
    `${name}: ${SUBSCRIPTIONS} subscriptions,`,
    `${((after - before) / SUBSCRIPTIONS).toFixed(1)} KB each;`,
    `broadcast p50 ${quantile(delays, 0.5)} ms, p99 ${
      quantile(delays, 0.99)
    } ms, ${lost} lost;`,
    `back after a kill -9: ${JSON.stringify(storm)} ms,`,
    `${errors} ended, ${
      subscribers.filter(({ wrong }) => wrong > 0).length
    } with a gap`,
  );
  for (const { stop } of subscribers) stop();
  await publish();
  server.kill("SIGKILL");
  await server.status;
}

/** Returns a function that publishes a message, or closes without one. */
async function createPublisher(
  name: string,
  url: string,
): Promise<(message?: Message) => Promise<unknown>> {
  const client = createClient({ url });
  if (name === "bare") {
    await client.connect();
    return (message) =>
      message
        ? client.publish("news", JSON.stringify(message))
        : client.close();
  }
  const channel = createRedisChannel<Message>({ client, name: "news" });
  return (message) => message ? channel.publish(message) : channel.close();
}

async function startServer(
  name: string,
  url: string,
  port: number,
): Promise<Deno.ChildProcess> {
  const program = new URL("broadcast_server.ts", import.meta.url).href;
  const server = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--lock=deno.lock", program, name, url, `${port}`],
    stdout: "piped",
  }).spawn();
  for await (const text of server.stdout.pipeThrough(new TextDecoderStream())) {
    if (text.includes("ready")) return server;
  }
  throw new Error(`${name} has not started`);
}

/** Returns the memory of a process, in KB. */
async function memoryOf(pid: number): Promise<number> {
  const status = await Deno.readTextFile(`/proc/${pid}/status`);
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)![1]);
}

function quantile(sorted: readonly number[], share: number): string {
  return (sorted[Math.floor(share * (sorted.length - 1))] ?? NaN).toFixed(0);
}
