import { assert, assertEquals, assertMatch } from "@std/assert";
import { createClient } from "@quartet/kit/rpc/client";
import type { SpanData, TraceData } from "@quartet/kit/trace";
import { createBrowser } from "../auth/browser.ts";
import type { Browser } from "../auth/browser.ts";
import { connect, subscribe, until } from "../rpc/helpers.ts";
import { treeOf } from "../trace/fakes.ts";
import { createKit } from "./kit.ts";
import type { Api, Kit } from "./kit.ts";
import { SERVERS } from "./servers.ts";

/** A running server, as a test sees it. */
interface Running {
  readonly kit: Kit;
  readonly origin: string;
  readonly browser: Browser;
}

/** Runs a test once on every server. */
function onEach(
  name: string,
  fn: (running: Running) => Promise<void>,
): void {
  for (const [server, mount] of Object.entries(SERVERS)) {
    Deno.test(`${server}: ${name}`, async () => {
      using kit = createKit();
      const mounted = mount(kit);
      const listening = Deno.serve(
        { hostname: "127.0.0.1", port: 0, onListen() {} },
        mounted.fetch,
      );
      const origin = `http://127.0.0.1:${listening.addr.port}`;
      try {
        await fn({ kit, origin, browser: createBrowser(origin) });
      } finally {
        await mounted.close();
        await listening.shutdown();
      }
    });
  }
}

const ADA = { name: "ada", password: "engine" };

/** Waits until a request's trace has ended, and returns it. */
async function traceOf(
  { tracer }: Kit,
  { headers }: Response,
): Promise<TraceData> {
  const id = headers.get("x-app-trace-id");
  assert(id !== null);
  let trace: TraceData | undefined;
  await until(() => {
    trace = tracer.getTraces().find((trace) => trace.id === id);
    return trace !== undefined;
  });
  return trace!;
}

const rootOf = ({ spans, rootSpanId }: TraceData): SpanData =>
  spans.get(rootSpanId)!;

onEach(
  "all modules' spans of one request share one root",
  async ({ kit, browser }) => {
    await browser.json("/sign-in", { body: ADA });
    const response = await browser.ask("/api/rpc?path=cities");
    assertEquals(await response.json(), { ok: true, data: ["Rome"] });
    assertMatch(response.headers.get("server-timing")!, /^total;dur=/);

    const trace = await traceOf(kit, response);
    assertEquals(
      treeOf(trace),
      "GET /api/rpc(auth:session, rpc:cities(cache.get(db.query)))",
    );
    assertEquals(
      [...trace.spans.values()].map(({ layer }) => layer),
      ["request", "auth", "rpc", "data", "database"],
    );
    assertEquals(trace.metadata.routePattern, "/api/rpc/cities");
    assertEquals(trace.metadata.statusCode, 200);
  },
);

onEach(
  "a signed-in browser is recognized by its cookie and passes the guard",
  async ({ kit, browser }) => {
    assertEquals(await browser.json("/known"), false);
    for (const path of ["/guarded", "/account"]) {
      const refused = await browser.ask(path);
      assertEquals(refused.status, 401);
      assertEquals((await refused.json()).error.code, "UNAUTHORIZED");
      assertEquals((await traceOf(kit, refused)).metadata.statusCode, 401);
    }

    const wrong = await browser.ask("/sign-in", {
      body: { ...ADA, password: "wrong" },
    });
    assertEquals(wrong.status, 401);
    assertEquals((await wrong.json()).error.code, "INVALID_CREDENTIALS");
    assertEquals((await traceOf(kit, wrong)).metadata.statusCode, 401);
    assertEquals(browser.cookies.size, 0);

    assertEquals(await browser.json("/sign-in", { body: ADA }), {
      userId: "1",
    });
    assertEquals(browser.cookies.size, 1);
    assertEquals(await browser.json("/known"), true);
    assertEquals(await browser.json("/account"), "1");
    assertEquals((await browser.ask("/guarded").then(read)).status, 200);
  },
);

onEach(
  "procedures run over HTTP as the user of the session cookie",
  async ({ origin, browser }) => {
    await browser.json("/sign-in", { body: ADA });
    const httpEndpoint = `${origin}/api/rpc`;
    const cookie = cookieOf(browser);
    const ada = createClient<Api>({ httpEndpoint, headers: { cookie } });
    const anybody = createClient<Api>({ httpEndpoint });
    assertEquals(await ada.whoami.query(), "1");
    assertEquals(await anybody.whoami.query(), "nobody");
    const other = await browser.ask("/api/rpcs");
    assertEquals(await other.text(), "the framework's 404");
  },
);

onEach(
  "subscriptions run on a socket and are traced below its handshake",
  async ({ kit, origin, browser }) => {
    await browser.json("/sign-in", { body: ADA });
    await using client = await connect({
      url: `${origin}/api/rpc`,
      headers: { cookie: cookieOf(browser) },
    });
    client.send(subscribe("a", "watch"));
    const messages = await client.take(3);
    assertEquals(messages.map(({ data }) => data), ["1", "Rome", undefined]);
    assertEquals(messages[2]!.type, "complete");
    const read = () =>
      kit.tracer.getTraces().find((trace) =>
        rootOf(trace).name === "GET /api/rpc"
      );
    const hasEnded = () =>
      read()?.spans.values().some(({ name, attributes }) =>
        name === "rpc:watch" && !("app.open" in attributes)
      ) ?? false;
    await until(hasEnded);
    const trace = read()!;
    assertEquals(
      treeOf(trace),
      "GET /api/rpc(auth:session, rpc:watch(cache.get(db.query)))",
    );
    assertEquals(trace.metadata.statusCode, 101);
  },
);

onEach("closing the plugins closes the sockets", async ({ kit, origin }) => {
  const client = await connect({ url: `${origin}/api/rpc` });
  await kit.rpc.close?.();
  assertEquals((await client.closed).code, 1001);
});

onEach(
  "a mutation invalidates the cached list",
  async ({ kit, origin, browser }) => {
    assertEquals(await browser.json("/cities"), ["Rome"]);
    assertEquals(await browser.json("/cities"), ["Rome"]);
    assertEquals(kit.asked.count, 1);
    const rpc = createClient<Api>({ httpEndpoint: `${origin}/api/rpc` });
    await rpc.found.mutate();
    assertEquals(await browser.json("/cities"), ["Rome", "Oslo"]);
    assertEquals(kit.asked.count, 2);
  },
);

onEach(
  "revalidatePath() invalidates only what a request of that path cached",
  async ({ kit, browser }) => {
    await browser.json("/cities");
    await kit.cache.revalidatePath("/elsewhere");
    await browser.json("/cities");
    assertEquals(kit.asked.count, 1);
    await kit.cache.revalidatePath("/cities");
    await browser.json("/cities");
    assertEquals(kit.asked.count, 2);
  },
);

onEach(
  "the viewer is served to loopback clients only, not through a proxy",
  async ({ origin }) => {
    const viewer = await fetch(`${origin}/__app/traces`);
    assertEquals(viewer.status, 200);
    assertMatch(viewer.headers.get("content-type")!, /^text\/html/);
    await viewer.body?.cancel();
    const list = await fetch(`${origin}/__app/traces/api`);
    assertEquals((await list.json()).total, 0);
    const foreign = await fetch(`${origin}/__app/traces`, {
      headers: { "x-forwarded-for": "192.0.2.1" },
    });
    assertEquals(foreign.status, 403);
    await foreign.body?.cancel();

    const stream = new WebSocket(`${origin}/__app/traces/ws`);
    const first = await new Promise<MessageEvent>((resolve) =>
      stream.onmessage = resolve
    );
    assertEquals(JSON.parse(first.data).type, "initial");
    const closed = new Promise((resolve) => stream.onclose = resolve);
    stream.close();
    await closed;
  },
);

onEach(
  "an error is recorded in the trace, and its response hides the message",
  async ({ kit, browser }) => {
    const response = await browser.ask("/fail");
    assertEquals(response.status, 500);
    assert(!(await response.text()).includes("inside"));
    assertEquals(kit.errors.map(String), ["Error: inside"]);
    await until(() => kit.tracer.getTraces().length === 1);
    const [trace] = kit.tracer.getTraces();
    const { status, events } = rootOf(trace!);
    assertEquals(trace!.metadata.statusCode, 500);
    assertEquals(status, "error");
    assertEquals(
      events.map(({ attributes }) => attributes?.["exception.message"]),
      ["inside"],
      "once",
    );
  },
);

onEach(
  "an unknown path gets the server's own 404",
  async ({ kit, browser }) => {
    const response = await browser.ask("/nowhere");
    assertEquals(response.status, 404);
    assertEquals(await response.text(), "the framework's 404");
    assertEquals((await traceOf(kit, response)).metadata.statusCode, 404);
  },
);

onEach(
  "a response with immutable headers passes through the modules",
  async ({ kit, browser }) => {
    const response = await browser.ask("/moved");
    await response.body?.cancel();
    assertEquals(response.status, 302);
    assertMatch(response.headers.get("location")!, /\/known$/);
    assertEquals((await traceOf(kit, response)).metadata.statusCode, 302);
  },
);

onEach(
  "a stream's trace ends with the stream",
  async ({ kit, browser }) => {
    const response = await browser.ask("/stream");
    assertEquals(await response.text(), "one two three");
    const root = rootOf(await traceOf(kit, response));
    assertEquals([root.status, root.events], ["ok", []]);
  },
);

onEach(
  "HEAD is answered without reading the stream, and its trace ends",
  async ({ kit, browser }) => {
    const response = await browser.ask("/stream", { method: "HEAD" });
    assertEquals(response.headers.get("content-type"), "text/event-stream");
    assertEquals(await response.text(), "");
    const root = rootOf(await traceOf(kit, response));
    assertEquals([root.status, root.events], ["ok", []]);
  },
);

onEach(
  "concurrent requests have separate traces",
  async ({ kit, origin }) => {
    const rpc = createClient<Api>({ httpEndpoint: `${origin}/api/rpc` });
    const ids = await Promise.all(
      Array.from({ length: 20 }, () => rpc.traceId.query()),
    );
    assertEquals(new Set(ids).size, 20);
    await until(() => kit.tracer.getTraces().length === 20);
    assertEquals(
      kit.tracer.getTraces().map(({ id }) => id).sort(),
      ids.sort(),
    );
  },
);

/** Reads a response's body, and returns the response. */
async function read(response: Response): Promise<Response> {
  await response.text();
  return response;
}

function cookieOf({ cookies }: Browser): string {
  return Array.from(cookies, ([name, { value }]) => `${name}=${value}`)
    .join("; ");
}
