import { assert, assertEquals, assertRejects } from "@std/assert";
import { createClient, RPCClientError } from "@quartet/kit/rpc/client";
import { type Child, freePort, startDeno } from "../helpers.ts";
import type { counting } from "./counting_server.ts";
import { fakeTimers } from "./fake_timers.ts";
import { until } from "./helpers.ts";

type Counting = typeof counting;

/** Starts the server. */
async function startServer(port = freePort()): Promise<[Child, number]> {
  const child = startDeno([
    "run",
    "--no-check",
    "-A",
    "tests/rpc/counting_server.ts",
    `${port}`,
  ]);
  const [, opened] = await child.printed(/port (\d+)/);
  return [child, Number(opened)];
}

/** Makes `Math.random` return `value` until it is disposed. */
function fixedRandom(value: number): Disposable {
  const { random } = Math;
  Math.random = () => value;
  return { [Symbol.dispose]: () => void (Math.random = random) };
}

Deno.test("A tracked subscription resumes where a killed server left it", async () => {
  using timers = fakeTimers();
  let [server, port] = await startServer();
  const rpc = createClient<Counting>({
    httpEndpoint: `http://127.0.0.1:${port}/api/rpc`,
  });
  const seen: number[] = [];
  const unsubscribe = rpc.count.subscribe(undefined, {
    onData: (n) => seen.push(n),
  });

  for (let life = 1; life <= 3; life++) {
    const before = seen.length;
    await until(() => seen.length > before + 50);
    server.kill("SIGKILL");
    await server.code;
    await using _dead = server;
    // It may fail once before the server is back, and try again.
    await until(() => timers.waits.some((ms) => ms < 30_000));
    timers.advance(500);
    await until(() => timers.waits.some((ms) => ms < 30_000));
    [server] = await startServer(port);
    timers.advance(1_000);
  }
  const before = seen.length;
  await until(() => seen.length > before + 50);
  unsubscribe();
  await using _last = server;

  assertEquals(seen, Array.from(seen, (_, i) => i));
});

Deno.test("A client waits longer after each failure, at random, up to a limit", async () => {
  for (
    const [random, expected] of [
      [0, [50, 100, 200, 400, 500, 500]],
      [0.5, [75, 150, 300, 600, 750, 750]],
    ] as const
  ) {
    using timers = fakeTimers();
    using _random = fixedRandom(random);
    const rpc = createClient<Counting>({
      httpEndpoint: `http://127.0.0.1:${freePort()}/api/rpc`,
      reconnect: { delayMs: 100, maxDelayMs: 1_000 },
      heartbeatMs: false,
    });
    const unsubscribe = rpc.count.subscribe(undefined, { onData() {} });
    const waits: number[] = [];
    while (waits.length < expected.length) {
      await until(() => timers.waits.length === 1);
      waits.push(timers.waits[0]!);
      timers.advance(waits.at(-1)!);
    }
    unsubscribe();
    assertEquals(waits, [...expected]);
    await until(() => timers.waits.length === 0);
  }
});

/** A socket with the types of `npm:ws`, whose events aren't those of pages. */
class PackageSocket {
  readonly readyState: 0 | 1 | 2 | 3 = 0;
  onopen: ((event: { target: PackageSocket }) => void) | null = null;
  onmessage: ((event: { data: string | Uint8Array }) => void) | null = null;
  onclose: ((event: { code: number; reason: string }) => void) | null = null;
  onerror: ((event: { error: unknown; message: string }) => void) | null = null;
  send(_data: string | number, _done?: (error?: Error) => void): void {}
  close(_code?: number, _reason?: string | Uint8Array): void {}
}

Deno.test("A socket that reports its failure by an error alone is opened again, once", async () => {
  using timers = fakeTimers();
  let sockets = 0;
  const rpc = createClient<Counting>({
    httpEndpoint: "http://127.0.0.1/api/rpc",
    reconnect: { attempts: 1 },
    heartbeatMs: false,
    webSocket() {
      const socket = new PackageSocket();
      sockets++;
      // As in Node 22: no close follows.
      queueMicrotask(() => socket.onerror?.({ error: null, message: "" }));
      return socket;
    },
  });
  const reading = assertRejects(async () => {
    for await (const _ of rpc.count.subscribe()) { /* none comes */ }
  }, RPCClientError);
  await until(() => timers.waits.length === 1);
  timers.advance(timers.waits[0]!);
  assertEquals((await reading).code, "CONNECTION_LOST");
  assertEquals([sockets, timers.waits], [2, []]);
});

Deno.test("A client gives up after the configured attempts, with an error for each subscription", async () => {
  using timers = fakeTimers();
  const rpc = createClient<Counting>({
    httpEndpoint: `http://127.0.0.1:${freePort()}/api/rpc`,
    reconnect: { attempts: 3 },
    heartbeatMs: false,
  });
  const errors: Error[] = [];
  rpc.count.subscribe(undefined, {
    onData() {},
    onError: (error) => errors.push(error),
  });
  const reading = assertRejects(async () => {
    for await (const _ of rpc.count.subscribe()) { /* none comes */ }
  }, RPCClientError);
  for (let attempt = 0; attempt < 3; attempt++) {
    await until(() => timers.waits.length === 1);
    timers.advance(timers.waits[0]!);
  }
  const error = await reading;
  assertEquals(
    [error.code, error.status, error.path],
    ["CONNECTION_LOST", 0, "count"],
  );
  assertEquals(errors.length, 1);
  assertEquals(timers.waits, []);
});

Deno.test("A server that is silent for two pings is treated as gone", async () => {
  using timers = fakeTimers();
  // The server completes the handshake and never sends anything.
  let opened = 0;
  let pings = 0;
  let subscribed = 0;
  await using server = Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    onListen() {},
  }, (request) => {
    const { socket, response } = Deno.upgradeWebSocket(request);
    socket.onopen = () => opened++;
    socket.onmessage = ({ data }) => {
      if (JSON.parse(data).type === "ping") pings++;
      else subscribed++;
    };
    return response;
  });
  const rpc = createClient<Counting>({
    httpEndpoint: `http://127.0.0.1:${server.addr.port}/`,
    heartbeatMs: 10_000,
  });
  const unsubscribe = rpc.count.subscribe(undefined, { onData() {} });
  await until(() => subscribed === 1);
  timers.advance(10_000);
  await until(() => pings === 1);
  timers.advance(10_000);
  // Then it waits before it opens the next socket.
  assert(timers.waits.every((ms) => ms <= 500), `${timers.waits}`);
  timers.advance(500);
  await until(() => opened === 2 && timers.waits.includes(10_000));
  unsubscribe();
  assertEquals(timers.waits, []);
});

Deno.test("A server that answers pings stays connected", async () => {
  using timers = fakeTimers();
  const [child, port] = await startServer();
  await using _server = child;
  const rpc = createClient<Counting>({
    httpEndpoint: `http://127.0.0.1:${port}/api/rpc`,
    heartbeatMs: 10_000,
  });
  const seen: number[] = [];
  const unsubscribe = rpc.count.subscribe(undefined, {
    onData: (n) => seen.push(n),
  });
  for (let beat = 0; beat < 5; beat++) {
    const before = seen.length;
    await until(() => seen.length > before);
    timers.advance(10_000);
  }
  unsubscribe();
  assertEquals(seen, Array.from(seen, (_, i) => i));
});

Deno.test("A handshake without response times out after the time of a ping", async () => {
  using timers = fakeTimers();
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const accepted = listener.accept();
  const rpc = createClient<Counting>({
    httpEndpoint: `http://127.0.0.1:${listener.addr.port}/`,
    heartbeatMs: 10_000,
  });
  const unsubscribe = rpc.count.subscribe(undefined, { onData() {} });
  using _first = await accepted;
  timers.advance(9_999);
  assertEquals(timers.waits, [10_000]);
  timers.advance(1);
  assert(timers.waits.every((ms) => ms <= 500), `${timers.waits}`);
  // Then it tries again.
  const again = listener.accept();
  timers.advance(500);
  using _second = await again;
  unsubscribe();
  assertEquals(timers.waits, []);
});

Deno.test("A wsEndpoint that never resolves times out after the time of a ping", async () => {
  using timers = fakeTimers();
  let calls = 0;
  const rpc = createClient<Counting>({
    httpEndpoint: "http://127.0.0.1:9/",
    wsEndpoint: () => {
      calls++;
      return new Promise<never>(() => {});
    },
    heartbeatMs: 10_000,
    reconnect: { attempts: 1 },
  });
  const reading = assertRejects(async () => {
    for await (const _ of rpc.count.subscribe()) { /* none comes */ }
  }, RPCClientError);
  await until(() => calls === 1);
  timers.advance(10_000);
  timers.advance(500);
  await until(() => calls === 2);
  timers.advance(10_000);
  assertEquals((await reading).code, "CONNECTION_LOST");
  assertEquals(timers.waits, []);
});

Deno.test("A wsEndpoint that resolves too late opens nothing", async () => {
  let opened = 0;
  const late = Promise.withResolvers<string>();
  const rpc = createClient<Counting>({
    httpEndpoint: "http://127.0.0.1:9/",
    wsEndpoint: () => late.promise,
    webSocket(url) {
      opened++;
      return new WebSocket(url);
    },
  });
  const unsubscribe = rpc.count.subscribe(undefined, { onData() {} });
  unsubscribe();
  late.resolve("ws://127.0.0.1:9/");
  await new Promise((resolve) => setTimeout(resolve));
  assertEquals(opened, 0);
});
