import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { createApp, createUpgrader, serve } from "@quartet/kit/app";
import type { Fetcher, ServeOptions, Server } from "@quartet/kit/app";
import { captureErrors, exchange, startDeno } from "../helpers.ts";
import { CERT, KEY } from "./certificate.ts";

const QUIET = { port: 0, signals: false, onListen() {} } as const;

const urlOf = ({ address }: Server) => `http://127.0.0.1:${address.port}/`;

/** Creates a server whose handler waits until it's released. */
function slowServer(options: ServeOptions & Pick<Fetcher, "close"> = {}) {
  const running = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const { close, ...rest } = options;
  const fetcher: Fetcher = {
    async fetch() {
      running.resolve();
      await gate.promise;
      return new Response("finished");
    },
    ...(close === undefined ? {} : { close }),
  };
  const server = serve(fetcher, { ...QUIET, ...rest });
  return { server, running: running.promise, finish: gate.resolve };
}

const bodyOf = async (url: string) => (await fetch(url)).text();

/** Whether a promise is still pending after all queued tasks have run. */
async function isPending(promise: Promise<unknown>): Promise<boolean> {
  let pending = true;
  const settle = () => void (pending = false);
  promise.then(settle, settle);
  await new Promise((resolve) => setTimeout(resolve));
  return pending;
}

Deno.test("serve() answers requests and passes on the connection's address", async () => {
  let remote: Deno.Addr | undefined;
  const server = serve({
    fetch(request, info) {
      remote = info?.remoteAddr;
      return new Response(new URL(request.url).pathname);
    },
  }, QUIET);
  assertEquals(await bodyOf(`${urlOf(server)}a`), "/a");
  assertEquals((remote as Deno.NetAddr).hostname, "127.0.0.1");
  await server.shutdown();
});

Deno.test("serve() listens on loopback by default, and reports its address", async () => {
  const listened: Deno.NetAddr[] = [];
  const server = serve({ fetch: () => new Response() }, {
    ...QUIET,
    onListen: (address) => listened.push(address),
  });
  assertEquals(server.address.hostname, "127.0.0.1");
  assertEquals(listened.map(({ port }) => port), [server.address.port]);
  await server.shutdown();
});

/** Returns what is printed while a server starts and stops. */
async function printedBy(options: ServeOptions): Promise<string[]> {
  const printed: string[] = [];
  const { log } = console;
  console.log = (text) => printed.push(text);
  try {
    const server = serve({ fetch: () => new Response() }, {
      port: 0,
      signals: false,
      ...options,
    });
    printed.push(String(server.address.port));
    await server.shutdown();
  } finally {
    console.log = log;
  }
  return printed;
}

Deno.test("serve() prints an address that a browser can open", async () => {
  for (
    const [hostname, printed] of [
      ["127.0.0.1", "127.0.0.1"],
      ["0.0.0.0", "localhost"],
    ] as const
  ) {
    const [line, port] = await printedBy({ hostname });
    assertEquals(line, `Listening on http://${printed}:${port}/`);
  }
});

Deno.test("serve() serves HTTPS with a certificate and its key", async () => {
  const server = serve({ fetch: ({ url }) => new Response(url) }, {
    ...QUIET,
    cert: CERT,
    key: KEY,
  });
  const url = `https://127.0.0.1:${server.address.port}/`;
  using client = Deno.createHttpClient({ caCerts: [CERT] });
  const response = await fetch(url, { client });
  assertEquals(await response.text(), url);
  await server.shutdown();
  const [line, port] = await printedBy({ cert: CERT, key: KEY });
  assertEquals(line, `Listening on https://127.0.0.1:${port}/`);
});

Deno.test("serve() requires a certificate with its key, and shows neither in an error", () => {
  for (
    const [tls, received] of [
      [{ cert: CERT }, "a string and undefined"],
      [{ key: KEY }, "undefined and a string"],
      [{ cert: CERT, key: [KEY] }, "a string and an array"],
    ] as const
  ) {
    const error = assertThrows(
      () =>
        serve({ fetch: () => new Response() }, {
          ...QUIET,
          ...tls as ServeOptions,
        }),
      TypeError,
    );
    assertEquals(
      error.message,
      `Cannot serve: cert and key must both be text in PEM, received ${received}`,
    );
  }
});

Deno.test({
  name: "serve() shares a port between two servers if both set reusePort",
  ignore: Deno.build.os === "windows",
  async fn() {
    const script = `
      import { serve } from ${
      JSON.stringify(import.meta.resolve("../../app/serve.ts"))
    };
      const fetcher = { fetch: () => new Response() };
      await using first = serve(fetcher, { port: 0, reusePort: true });
      const { port } = first.address;
      await using second = serve(fetcher, { port, reusePort: true });
    `;
    const file = await Deno.makeTempFile({ suffix: ".ts" });
    try {
      await Deno.writeTextFile(file, script);
      const args = ["run", "-A", "--no-check", "--unstable-net", file];
      await using child = startDeno(args);
      assertEquals([await child.code, child.stderr], [0, ""]);
      const [first, second, ...rest] = child.stdout.split("\n");
      assertEquals([second, rest], [first, [""]]);
    } finally {
      await Deno.remove(file);
    }
  },
});

Deno.test("serve() rejects an app without fetch()", () => {
  for (
    const [wrong, kind] of [
      [undefined, "undefined"],
      [null, "null"],
      [() => new Response(), "a function; pass { fetch: handler }"],
      [{ fetch: "no" }, "an object"],
    ] as const
  ) {
    const error = assertThrows(
      () => serve(wrong as unknown as Fetcher, QUIET),
      TypeError,
    );
    assertEquals(
      error.message,
      `Cannot serve: the app must be an object with a fetch method, received ${kind}`,
    );
  }
});

Deno.test("serve() throws AddrInUse if the port is in use", async () => {
  const server = serve({ fetch: () => new Response() }, QUIET);
  assertThrows(
    () =>
      serve({ fetch: () => new Response() }, {
        ...QUIET,
        port: server.address.port,
      }),
    Deno.errors.AddrInUse,
  );
  await server.shutdown();
});

Deno.test("serve() names an address that it can't listen on, and keeps the class of the error", () => {
  const cases: [string, new () => Error, string][] = [
    ["nowhere.invalid", Error, "failed to lookup address information"],
    // Reserved for documentation (RFC 5737), so this machine doesn't have it.
    ["192.0.2.1", Deno.errors.AddrNotAvailable, "Cannot assign"],
    ["http://localhost", URIError, "invalid host"],
  ];
  for (const [hostname, Kind, problem] of cases) {
    assertThrows(
      () => serve({ fetch: () => new Response() }, { ...QUIET, hostname }),
      Kind,
      `Cannot listen on ${hostname}:0: ${problem}`,
    );
  }
});

Deno.test("serve() calls fetch and close as methods", async () => {
  class Counter {
    #requests = 0;
    closed = false;
    fetch() {
      return new Response(`${++this.#requests}`);
    }
    close() {
      this.closed = this.#requests === 1;
    }
  }
  const counter = new Counter();
  const server = serve(counter, QUIET);
  assertEquals(await bodyOf(urlOf(server)), "1");
  await server.shutdown();
  assert(counter.closed);
});

Deno.test("serve() awaits a lazy promise that has only then()", async () => {
  let isClosed = false;
  let runs = 0;
  const lazy = {
    then(resolve: (response: Response) => void) {
      runs++;
      resolve(new Response("lazy"));
    },
  };
  const server = serve({
    fetch: () => lazy as unknown as Promise<Response>,
    close: () => void (isClosed = true),
  }, { ...QUIET, shutdownTimeout: Infinity });
  assertEquals(await bodyOf(urlOf(server)), "lazy");
  await server.shutdown();
  assert(isClosed);
  assertEquals(runs, 1);
});

Deno.test("shutdown() finishes a running request, closes the fetcher, then resolves", async () => {
  const order: string[] = [];
  const { server, running, finish } = slowServer({
    async close() {
      order.push("closing");
      await Promise.resolve();
      order.push("closed");
    },
  });
  const body = bodyOf(urlOf(server)).then((text) => order.push(text));
  await running;
  const down = server.shutdown().then(() => order.push("down"));
  assert(await isPending(down));
  assertEquals(order, [], "the fetcher stays open while a request runs");
  finish();
  await Promise.all([body, down, server.finished]);
  assertEquals(order.slice(0, 2), ["closing", "closed"]);
  assertEquals(order.slice(2).sort(), ["down", "finished"]);
});

Deno.test("shutdown() keeps plugins open until the last request has ended", async () => {
  let open = true;
  const running = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const app = createApp({
    plugins: [{ name: "database", close: () => void (open = false) }],
    routes: [{
      path: "/",
      async loader() {
        running.resolve();
        await gate.promise;
        return open;
      },
    }],
  });
  const server = await app.serve(QUIET);
  const body = bodyOf(urlOf(server));
  await running.promise;
  const down = server.shutdown();
  await isPending(down);
  gate.resolve();
  assertEquals(await body, "true");
  await down;
  assertEquals(open, false);
});

Deno.test("shutdown() answers no new requests", async () => {
  const { server, running, finish } = slowServer();
  const body = bodyOf(urlOf(server));
  await running;
  const down = server.shutdown();
  const refused = await fetch(urlOf(server));
  assertEquals(refused.status, 503);
  assertEquals((await refused.json()).error.code, "SHUTTING_DOWN");
  finish();
  assertEquals(await body, "finished");
  await down;
  await assertRejects(() => fetch(urlOf(server)), TypeError);
});

Deno.test("shutdown() finishes a body that is still being sent", async () => {
  const gate = Promise.withResolvers<void>();
  const server = serve({
    fetch: () =>
      new Response(
        new ReadableStream({
          async start(controller) {
            controller.enqueue(new TextEncoder().encode("begin "));
            await gate.promise;
            controller.enqueue(new TextEncoder().encode("end"));
            controller.close();
          },
        }),
      ),
  }, QUIET);
  const response = await fetch(urlOf(server));
  const down = server.shutdown();
  assert(await isPending(down));
  gate.resolve();
  assertEquals(await response.text(), "begin end");
  await down;
});

Deno.test("shutdown() lets the fetcher end its open streams", async () => {
  let controller: ReadableStreamDefaultController<Uint8Array>;
  const server = serve({
    fetch: () =>
      new Response(
        new ReadableStream<Uint8Array<ArrayBuffer>>({
          start(given) {
            controller = given;
            given.enqueue(new TextEncoder().encode("event"));
          },
        }),
      ),
    close: () => controller.close(),
  }, QUIET);
  const response = await fetch(urlOf(server));
  await server.shutdown();
  assertEquals(await response.text(), "event");
});

Deno.test("shutdown() aborts a hanging request after shutdownTimeout", async () => {
  let closes = 0;
  const { server, running, finish } = slowServer({
    shutdownTimeout: 0.001,
    close: () => void closes++,
  });
  const body = bodyOf(urlOf(server)).catch((error) => error);
  await running;
  await server.shutdown();
  assert(await body instanceof TypeError, "the connection was cut");
  assertEquals(closes, 1);
  finish();
});

Deno.test("shutdown() with shutdownTimeout Infinity waits for a request indefinitely", async () => {
  const { server, running, finish } = slowServer({ shutdownTimeout: Infinity });
  const body = bodyOf(urlOf(server));
  await running;
  const down = server.shutdown();
  // A timer of Infinity would fire after 1 ms, before this one.
  await new Promise((resolve) => setTimeout(resolve, 2));
  assert(await isPending(down));
  finish();
  assertEquals(await body, "finished");
  await down;
});

Deno.test("serve() rejects a shutdownTimeout longer than a timer can wait", () => {
  const MUST =
    "shutdownTimeout must be a number of seconds, 0 or more, or Infinity, and at most 2147483, as long as a timer can wait";
  for (
    const [shutdownTimeout, problem] of [
      [-1, `${MUST}, received -1`],
      [NaN, `${MUST}, received NaN`],
      ["1", `${MUST}, received "1"`],
      [2_147_484, `${MUST}, received 2147484`],
    ] as const
  ) {
    const error = assertThrows(
      () =>
        serve({ fetch: () => new Response() }, {
          ...QUIET,
          shutdownTimeout: shutdownTimeout as number,
        }),
      TypeError,
    );
    assertEquals(error.message, `Cannot serve: ${problem}`);
  }
});

Deno.test("shutdown() aborts an endless body and reports it", async () => {
  const cancelled = Promise.withResolvers<void>();
  const server = serve({
    fetch: () =>
      new Response(
        new ReadableStream({
          start: (controller) => controller.enqueue(new Uint8Array(1)),
          cancel: () => cancelled.resolve(),
        }),
      ),
  }, { ...QUIET, shutdownTimeout: 0.001 });
  const response = await fetch(urlOf(server));
  await server.shutdown();
  await assertRejects(() => response.bytes(), TypeError);
  await cancelled.promise;
});

Deno.test("shutdown() closes everything only once when called again", async () => {
  let closes = 0;
  const server = serve({
    fetch: () => new Response(),
    close: () => void closes++,
  }, QUIET);
  await Promise.all([server.shutdown(), server.shutdown()]);
  await server.shutdown();
  await server.finished;
  assertEquals(closes, 1);
});

Deno.test("shutdown() doesn't wait for keep-alive connections or incomplete requests", async () => {
  const server = serve({ fetch: () => new Response("hi") }, {
    ...QUIET,
    shutdownTimeout: 3_600,
  });
  const { port } = server.address;
  using idle = await Deno.connect({ hostname: "127.0.0.1", port });
  using half = await Deno.connect({ hostname: "127.0.0.1", port });
  const encoder = new TextEncoder();
  await idle.write(encoder.encode("GET / HTTP/1.1\r\nHost: h\r\n\r\n"));
  await idle.read(new Uint8Array(1024));
  await half.write(encoder.encode("GET / HTTP/1.1\r\nHo"));
  // With a timeout this long, a wait would hang the test.
  await server.shutdown();
});

Deno.test("A draining server answers requests, and stops when drain has ended", async () => {
  const order: string[] = [];
  const server = serve({
    fetch: () => new Response("hi"),
    drain: () => void order.push("drain"),
    close: () => void order.push("close"),
  }, { ...QUIET, drain: 0.2 });
  const down = server.shutdown().then(() => order.push("down"));
  assertEquals(order, ["drain"]);
  assertEquals(await bodyOf(urlOf(server)), "hi");
  assertEquals(order, ["drain"]);
  await down;
  assertEquals(order, ["drain", "close", "down"]);
  await assertRejects(() => fetch(urlOf(server)), TypeError);
});

for (
  const [how, fail] of [
    ["throws", () => {
      throw new Error("no broker");
    }],
    ["rejects", () => Promise.reject(new Error("no broker"))],
  ] as const
) {
  Deno.test(`A drain() that ${how} is logged, and the server shuts down`, async () => {
    using captured = captureErrors();
    const order: string[] = [];
    const drain = fail as () => void;
    const close = () => void order.push("close");
    const app = createApp({
      plugins: [
        { name: "broken", drain, close },
        { name: "other", drain: () => void order.push("drain"), close },
      ],
    });
    await (await app.serve(QUIET)).shutdown();
    const fetcher = { fetch: () => new Response(), drain, close };
    await serve(fetcher, QUIET).shutdown();
    assertEquals(order, ["drain", "close", "close", "close"]);
    assertEquals(captured.calls.map(([text]) => text), [
      "Plugin %s failed to drain:",
      "drain() failed:",
    ]);
  });
}

Deno.test("serve() rejects a drain longer than a timer can wait", () => {
  for (const drain of [-1, Infinity, "5"]) {
    assertThrows(
      () =>
        serve({ fetch: () => new Response() }, {
          ...QUIET,
          drain: drain as number,
        }),
      TypeError,
      "Cannot serve: drain must be ",
    );
  }
});

Deno.test("shutdown() closes WebSockets through the fetcher and waits for them", async () => {
  const upgrader = createUpgrader<undefined>({ message() {} });
  const server = serve({
    fetch: (request) => {
      upgrader.upgrade(request, { data: undefined });
      return upgrader.response(request)!;
    },
    close: () => upgrader.close(),
  }, { ...QUIET, shutdownTimeout: 3_600 });
  const socket = new WebSocket(urlOf(server));
  await new Promise((resolve) => socket.onopen = resolve);
  const closed = new Promise<CloseEvent>((resolve) => socket.onclose = resolve);
  await server.shutdown();
  assertEquals((await closed).code, 1001);
  assertEquals(upgrader.size, 0);
});

Deno.test("shutdown() rejects if the fetcher fails to close, after its requests are finished", async () => {
  for (
    const close of [
      () => Promise.reject(new Error("disk full")),
      () => {
        throw new Error("disk full");
      },
    ]
  ) {
    const { server, running, finish } = slowServer({ close });
    const body = bodyOf(urlOf(server));
    await running;
    const down = assertRejects(() => server.shutdown(), Error, "disk full");
    finish();
    assertEquals(await body, "finished");
    await down;
    await assertRejects(() => server.finished, Error, "disk full");
    await assertRejects(() => fetch(urlOf(server)), TypeError);
  }
});

Deno.test("The signal option shuts the server down", async () => {
  let closed = false;
  const abort = new AbortController();
  const { server, running, finish } = slowServer({
    signal: abort.signal,
    close: () => void (closed = true),
  });
  const body = bodyOf(urlOf(server));
  await running;
  abort.abort();
  finish();
  assertEquals(await body, "finished");
  await server.finished;
  assert(closed);
});

Deno.test("A signal that is already aborted shuts the server down at once", async () => {
  const server = serve({ fetch: () => new Response() }, {
    ...QUIET,
    signal: AbortSignal.abort(),
  });
  await server.finished;
  await assertRejects(() => fetch(urlOf(server)), TypeError);
});

Deno.test("app.serve() answers over a socket and closes the plugins on shutdown", async () => {
  let closed = false;
  const app = createApp({
    plugins: [{ name: "x", close: () => void (closed = true) }],
    routes: [{ path: "/", handler: () => new Response("hi") }],
  });
  const server = await app.serve(QUIET);
  const answer = await exchange(
    server.address.port,
    "HEAD / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
  );
  assertStringIncludes(answer, "HTTP/1.1 200 OK");
  assert(answer.endsWith("\r\n\r\n"), "without a body");
  await server.shutdown();
  assert(closed);
});

Deno.test("app.serve() rejects for a closed app, which would answer only 503", async () => {
  const app = createApp();
  await app.close();
  await assertRejects(
    () => app.serve(QUIET),
    TypeError,
    "Cannot serve: the app must be open, received one that was closed; create another one",
  );
});

Deno.test("await using shuts a server down, and closes an app", async () => {
  let closed = 0;
  const create = () =>
    createApp({
      plugins: [{ name: "x", close: () => void closed++ }],
      routes: [{ path: "/", handler: () => new Response("hi") }],
    });
  let url: string;
  {
    await using app = create();
    await using server = await app.serve(QUIET);
    url = urlOf(server);
    assertEquals(await bodyOf(url), "hi");
    assertEquals(closed, 0);
  }
  assertEquals(closed, 1);
  await assertRejects(() => fetch(url), TypeError);
  {
    await using app = create();
    await app.fetch(new Request("http://localhost/"));
  }
  assertEquals(closed, 2);
});

Deno.test("shutdown() leaves no signal listener behind", async () => {
  // The resource sanitizer would find a listener.
  const server = serve({ fetch: () => new Response() }, {
    port: 0,
    onListen() {},
  });
  await server.shutdown();
});

const PROGRAM = ["run", "-A", "--no-check", "tests/app/slow_server.ts"];

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  Deno.test({
    name:
      `${signal} finishes a slow request, closes the plugins and exits with 0`,
    ignore: Deno.build.os === "windows",
    async fn() {
      await using child = startDeno(PROGRAM);
      const [, url] = await child.printed(/Listening on (\S+)/);
      const body = bodyOf(`${url}slow`);
      await child.printed(/running/);
      child.kill(signal);
      assertEquals(await body, '{"closed":false}');
      assertEquals(await child.code, 0);
      assert(child.stdout.endsWith("signalled\nclosed\n"), child.stdout);
      assertEquals(child.stderr, "");
    },
  });
}

Deno.test({
  name: "A second signal aborts a hanging request",
  ignore: Deno.build.os === "windows",
  async fn() {
    await using child = startDeno(PROGRAM);
    const [, url] = await child.printed(/Listening on (\S+)/);
    const body = bodyOf(`${url}hang`).catch((error) => error);
    await child.printed(/running/);
    child.kill("SIGTERM");
    await child.printed(/signalled/);
    child.kill("SIGINT");
    assert(await body instanceof TypeError, "the connection was cut");
    assertEquals(await child.code, 0);
    assert(child.stdout.endsWith("closed\n"), child.stdout);
    assertEquals(child.stderr, "");
  },
});

Deno.test({
  name: "A second signal ends drain and aborts requests",
  ignore: Deno.build.os === "windows",
  async fn() {
    await using child = startDeno([...PROGRAM, "3600"]);
    const [, url] = await child.printed(/Listening on (\S+)/);
    child.kill("SIGTERM");
    await child.printed(/signalled/);
    const body = bodyOf(`${url}hang`).catch((error) => error);
    await child.printed(/running/);
    child.kill("SIGINT");
    assert(await body instanceof TypeError, "the connection was cut");
    assertEquals(await child.code, 0);
    assert(child.stdout.endsWith("closed\n"), child.stdout);
  },
});

Deno.test({
  name:
    "A second signal during drain doesn't wait for a plugin that never closes",
  ignore: Deno.build.os === "windows",
  async fn() {
    await using child = startDeno([...PROGRAM, "3600", "stuck"]);
    await child.printed(/Listening on (\S+)/);
    child.kill("SIGTERM");
    await child.printed(/signalled/);
    child.kill("SIGINT");
    assertEquals(await child.code, 0);
    assert(child.stdout.endsWith("closed\n"), child.stdout);
  },
});

Deno.test("shutdown() doesn't wait for an upload that nobody reads", async () => {
  const server = serve({ fetch: () => new Response("no") }, {
    ...QUIET,
    shutdownTimeout: 0.1,
  });
  const { port } = server.address;
  using upload = await Deno.connect({ hostname: "127.0.0.1", port });
  const head =
    "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n";
  await upload.write(new TextEncoder().encode(`${head}abc`));
  await upload.read(new Uint8Array(1024));
  // The test passes once both have settled.
  await server.shutdown();
  await server.finished;
});

Deno.test({
  name: "A server that can't accept connections any more fails with the reason",
  // On Windows, no shell limits the open files of a process.
  ignore: Deno.build.os === "windows",
  async fn() {
    const script = `
      import { serve } from ${
      JSON.stringify(import.meta.resolve("../../app/serve.ts"))
    };
      serve({ fetch: () => new Response() }, {
        port: 0,
        onListen: ({ port }) => console.log("port", port),
      });
    `;
    const file = await Deno.makeTempFile({ suffix: ".ts" });
    await Deno.writeTextFile(file, script);
    // Deno raises the soft limit to the hard one, so the test lowers both.
    const child = new Deno.Command("sh", {
      args: [
        "-c",
        'ulimit -n 100; exec "$0" run -A --no-check "$1"',
        Deno.execPath(),
        file,
      ],
      env: { NO_COLOR: "1" },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const reader = child.stdout.pipeThrough(new TextDecoderStream())
      .getReader();
    const { value = "" } = await reader.read();
    const port = Number(/\d+/.exec(value)![0]);
    const connections: Deno.Conn[] = [];
    try {
      for (let i = 0; i < 200; i++) {
        connections.push(await Deno.connect({ hostname: "127.0.0.1", port }));
      }
    } catch {
      // The limit is already reached.
    }
    const stderr = await new Response(child.stderr).text();
    const { code } = await child.status;
    for (const connection of connections) connection.close();
    await reader.cancel();
    await Deno.remove(file);
    assert(code !== 0, `${code}`);
    assertStringIncludes(stderr, "Too many open files");
  },
});

Deno.test("serve() rejects an invalid port", () => {
  for (const port of ["8000", -1, 65_536, 1.5, NaN, null]) {
    assertThrows(
      () => serve({ fetch: () => new Response() }, { port: port as number }),
      TypeError,
      "Cannot serve: port must be an integer from 0 to 65535, received",
    );
  }
});
