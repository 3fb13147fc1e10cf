import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  createApp,
  type HealthOptions,
  healthPlugin,
  serve,
  withPlugins,
} from "@quartet/kit/app";
import { createTracer, tracePlugin } from "@quartet/kit/trace";
import { UnavailableError } from "../../core/error_response.ts";
import { captureErrors } from "../helpers.ts";

const PATH = "/__app/health";

/** Requests a path of the app, and returns the status with the body. */
async function ask(
  app: { fetch(request: Request): Response | Promise<Response> },
  path = PATH,
): Promise<[status: number, body: unknown]> {
  const response = await app.fetch(new Request(`http://localhost${path}`));
  assertEquals(response.headers.get("cache-control"), "no-store");
  return [response.status, await response.json()];
}

function createApps(options: HealthOptions) {
  const errors: [name: string, text: string][] = [];
  const app = createApp({
    plugins: [healthPlugin({
      maxAge: 0,
      onError: (error, name) => errors.push([name, String(error)]),
      ...options,
    })],
  });
  return { app, errors };
}

Deno.test("healthPlugin() reports readiness and liveness", async () => {
  const { app } = createApps({});
  assertEquals(await ask(app), [200, { status: "ready" }]);
  assertEquals(await ask(app, `${PATH}/live`), [200, { status: "alive" }]);
  const head = await app.fetch(
    new Request(`http://localhost${PATH}`, { method: "HEAD" }),
  );
  assertEquals(head.status, 200);
  await head.body?.cancel();
  const post = await app.fetch(
    new Request(`http://localhost${PATH}`, { method: "POST" }),
  );
  assertEquals(post.status, 405);
  await post.body?.cancel();
});

Deno.test("healthPlugin() answers 503 while a check fails, without details for unauthorized callers", async () => {
  let isUp = false;
  const { app, errors } = createApps({
    checks: {
      database() {
        if (!isUp) throw new Error("postgres://ada:hunter2@db is away");
      },
      cache: () => isUp,
      queue: () => true,
    },
  });
  for (let i = 0; i < 3; i++) {
    assertEquals(await ask(app), [503, { status: "failing" }]);
  }
  assertEquals(errors.map(([name]) => name).sort(), ["cache", "database"]);
  isUp = true;
  assertEquals(await ask(app), [200, { status: "ready" }]);
  isUp = false;
  assertEquals(await ask(app), [503, { status: "failing" }]);
  assertEquals(errors.length, 4, "each outage is reported once");
  assertEquals(await ask(app, `${PATH}/live`), [200, { status: "alive" }]);
});

Deno.test("healthPlugin() shows each check's state to authorized callers", async () => {
  const { app } = createApps({
    checks: {
      database: () => Promise.reject(new Error("secret")),
      cache: () => true,
    },
    showDetails: (request) => new URL(request.url).searchParams.has("details"),
  });
  assertEquals(await ask(app), [503, { status: "failing" }]);
  assertEquals(await ask(app, `${PATH}?details`), [503, {
    status: "failing",
    checks: { database: "failed", cache: "ok" },
  }]);
});

Deno.test("healthPlugin() shows no details unless showDetails() returns true", async () => {
  for (const answer of [Promise.resolve(false), "no", 1, {}, undefined]) {
    const { app } = createApps({
      checks: { database: () => true },
      showDetails: () => answer as boolean,
    });
    assertEquals(await ask(app), [200, { status: "ready" }]);
  }
  const app = createApp({
    plugins: [healthPlugin({
      showDetails: () => Promise.reject(new Error("x")) as unknown as boolean,
    })],
    onError: () => {},
  });
  const response = await app.fetch(new Request(`http://localhost${PATH}`));
  assertEquals(response.status, 500, "a rejection doesn't end the process");
  await response.body?.cancel();
});

Deno.test("healthPlugin() runs the checks of the plugins mounted with it", async () => {
  let isUp = false;
  const store = { name: "store", health: { "session store": () => isUp } };
  const queue = { name: "queue", health: { queue: () => false } };
  const health = () =>
    healthPlugin({
      maxAge: 0,
      showDetails: () => true,
      onError: () => {},
      // One check removed, one replaced, and one added.
      checks: { queue: false, mail: () => true },
    });
  const apps = [
    createApp({ plugins: [health(), store, queue] }),
    createApp({ plugins: [store, queue, health()] }),
    withPlugins([store, health(), queue], () => new Response("other")),
  ];
  for (const app of apps) {
    isUp = false;
    assertEquals(await ask(app), [503, {
      status: "failing",
      checks: { "session store": "failed", mail: "ok" },
    }]);
    isUp = true;
    assertEquals(await ask(app), [200, {
      status: "ready",
      checks: { "session store": "ok", mail: "ok" },
    }]);
    await app.close();
  }
  const { app } = createApps({ checks: { mail: () => true } });
  assertEquals(await ask(app), [200, { status: "ready" }]);
});

Deno.test("healthPlugin() prefers the app's check to a plugin's of the same name", async () => {
  const app = createApp({
    plugins: [
      healthPlugin({ checks: { store: () => true } }),
      { name: "store", health: { store: () => false } },
    ],
  });
  assertEquals(await ask(app), [200, { status: "ready" }]);
});

Deno.test("healthPlugin() doesn't log again what a store has reported", async () => {
  using captured = captureErrors();
  const app = createApp({
    plugins: [healthPlugin({
      checks: {
        store: () =>
          Promise.reject(new UnavailableError("Cannot reach session store")),
        mail: () => Promise.reject(new Error("Cannot reach mail")),
      },
    })],
  });
  assertEquals(await ask(app), [503, { status: "failing" }]);
  assertEquals(captured.calls.map(([, name]) => name), ["mail"]);
});

Deno.test("healthPlugin() logs a check that returned false, and names it once", async () => {
  using captured = captureErrors();
  const checks = { database: () => false };
  const app = createApp({ plugins: [healthPlugin({ checks })] });
  assertEquals(await ask(app), [503, { status: "failing" }]);
  const [[format, name, error] = []] = captured.calls;
  assertEquals(
    [format, name, String(error)],
    ["Health check %s failed:", "database", "Error: it returned false"],
  );
});

Deno.test("healthPlugin() counts a check as failed after checkTimeout", async () => {
  const { app, errors } = createApps({
    checkTimeout: 0.001,
    checks: { database: () => new Promise(() => {}) },
  });
  assertEquals(await ask(app), [503, { status: "failing" }]);
  assertEquals(errors, [
    ["database", "Error: it took longer than 0.001 s"],
  ]);
});

Deno.test("Concurrent requests, and requests within maxAge, share the checks", async () => {
  let checks = 0;
  const { app } = createApps({
    maxAge: 3_600,
    checks: { database: () => void checks++ },
  });
  const answers = await Promise.all(Array.from({ length: 20 }, () => ask(app)));
  assert(answers.every(([status]) => status === 200));
  await ask(app);
  assertEquals(checks, 1);
});

Deno.test("Concurrent requests share the checks, also with maxAge 0", async () => {
  let checks = 0;
  const gate = Promise.withResolvers<void>();
  const { app } = createApps({
    checks: {
      database() {
        checks++;
        return gate.promise;
      },
    },
  });
  const answers = Array.from({ length: 20 }, () => ask(app));
  await Promise.resolve();
  gate.resolve();
  assert((await Promise.all(answers)).every(([status]) => status === 200));
  assertEquals(checks, 1);
  await ask(app);
  assertEquals(checks, 2);
});

Deno.test("healthPlugin() answers even if its onError throws", async () => {
  using captured = captureErrors();
  const app = createApp({
    plugins: [healthPlugin({
      checks: { database: () => false },
      onError() {
        throw new Error("log is full");
      },
    })],
  });
  assertEquals(await ask(app), [503, { status: "failing" }]);
  assertEquals(captured.calls.length, 1);
});

Deno.test("Readiness turns 503 when shutdown begins, and requests are answered until drain ends", async () => {
  const app = createApp({
    plugins: [healthPlugin()],
    routes: [{ path: "/", handler: () => new Response("hi") }],
  });
  const server = serve(app, {
    port: 0,
    signals: false,
    drain: 0.3,
    onListen() {},
  });
  const base = `http://127.0.0.1:${server.address.port}`;
  const ready = await fetch(base + PATH);
  assertEquals(await ready.json(), { status: "ready" });
  const down = server.shutdown();
  const draining = await fetch(base + PATH);
  assertEquals([draining.status, await draining.json()], [
    503,
    { status: "draining" },
  ]);
  assertEquals(await (await fetch(base)).text(), "hi");
  await down;
});

Deno.test("healthPlugin() works with withPlugins() and its own path", async () => {
  const host = withPlugins(
    [healthPlugin({ path: "/ready" })],
    () => new Response("other"),
  );
  assertEquals(await ask(host, "/ready"), [200, { status: "ready" }]);
  host.drain();
  assertEquals(await ask(host, "/ready"), [503, { status: "draining" }]);
  await host.close();
});

Deno.test("Health requests aren't traced", async () => {
  const tracer = createTracer();
  const app = createApp({
    trace: tracePlugin(tracer, { authorize: () => true }),
    plugins: [healthPlugin()],
  });
  await ask(app);
  assertEquals(tracer.getTraces(), []);
  await app.close();
});

Deno.test("healthPlugin() rejects invalid options", () => {
  const wrong: readonly [options: unknown, problem: string][] = [
    [
      { path: "health" },
      'path must be a path such as "/health", received "health"',
    ],
    [
      { path: "/health/" },
      'path must be a path such as "/health", received "/health/"',
    ],
    [
      { checks: { mail: () => true, old: false, database: true } },
      "checks must be an object of functions, received true as database",
    ],
    [
      { checks: [() => true] },
      "checks must be an object of functions, received an array",
    ],
    [{ checkTimeout: 0 }, "checkTimeout must be a number of seconds above 0"],
    [
      { maxAge: -1 },
      "maxAge must be a number of seconds, 0 or more, received -1",
    ],
    [{ showDetails: true }, "showDetails must be a function, received true"],
    [{ timeout: 1 }, 'unknown option "timeout"'],
  ];
  for (const [options, problem] of wrong) {
    assertThrows(
      () => healthPlugin(options as HealthOptions),
      TypeError,
      `Cannot create health plugin: ${problem}`,
    );
  }
});
