/** Atlas with four planted mistakes, under the dev command. */

import {
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { connect, type Socket } from "node:net";
import type { Finding } from "../../trace/finding.ts";
import { ROOT } from "../helpers.ts";
import { connectAssistant } from "./assistant.ts";
import { serveApp, visit } from "./dev_command.ts";

/** The lines of the mistakes are part of the test. */
const PLANTED = `\
import { createCache } from "@quartet/kit/data";
import { createApp } from "@quartet/kit/app";
import { createAtlas } from "${new URL("examples/atlas/atlas.ts", ROOT)}";
import { openDatabase } from "${new URL("examples/atlas/database.ts", ROOT)}";

const atlas = createAtlas({ database: ":memory:" });
const database = openDatabase(":memory:");
const cache = createCache();
const all = (text: string, ...values: string[]) =>
  database.prepare(text).all(...values) as { neighbour: string }[];

function neighbours(code: string) {
  const found = all("SELECT neighbour FROM border WHERE code = ?", code);
  return found.map(({ neighbour }) =>
    database.prepare("SELECT name, flag FROM country WHERE code = ?").get(
      neighbour,
    )
  );
}

const count = (key: string) =>
  cache.cached(key, () => all("SELECT code FROM country").length, {
    maxAge: 60,
  });

const SLOW =
  "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000000) SELECT max(i) FROM n";

const planted = createApp({
  routes: [
    { path: "/countries/:code", loader: ({ params }) => neighbours(params["code"]!) },
    { path: "/count", loader: () => count("count:" + Math.random()) },
    {
      path: "/largest",
      loader: () => database.prepare(SLOW).all(),
    },
    {
      path: "/capital",
      loader: () => {
        throw new TypeError("Cannot read capital, token=abcdefgh1234");
      },
    },
    {
      path: "/audit",
      loader() {
        const log = async () => {
          await new Promise((resolve) => setTimeout(resolve, 20));
          throw new Error("The audit log is full of " + crypto.randomUUID());
        };
        log();
        return "done";
      },
    },
  ],
});

// The process would end otherwise.
addEventListener("unhandledrejection", (event) => event.preventDefault());

export default {
  fetch: (request: Request, info: Deno.ServeHandlerInfo) =>
    request.headers.has("planted")
      ? planted.fetch(request, info)
      : atlas.fetch(request, info),
  async close() {
    database.close();
    await atlas.close();
  },
};
`;

Deno.test("dev --trace names planted causes with their lines, in the terminal and to programs", async () => {
  await using app = await serveApp(PLANTED, "--trace");
  const { child, url } = app;
  const ask = async (query = "") => {
    const response = await fetch(
      new URL(`/__app/traces/findings${query}`, url),
    );
    return (await response.json()).findings as Finding[];
  };
  for (const path of ["/", "/countries/CHE", "/api/countries", "/nothing"]) {
    for (let i = 0; i < 6; i++) await visit(url, path);
  }
  const printed = async (path: string, line: RegExp, times = 1) => {
    let id = "";
    for (let i = 0; i < times; i++) {
      id = await visit(url, path, { planted: "1" });
    }
    await child.printed(line);
    return id;
  };
  const id = await printed(
    "/countries/DEU",
    /^ {3}! 9 × SELECT … FROM country WHERE code = \? main\.ts:15 \(GET \/countries\/:code\)$/m,
  );
  await printed(
    "/count",
    /^ {3}! no hit in 5 look-ups with .* main\.ts:22/m,
    5,
  );
  await printed(
    "/largest",
    /^ {3}! [\d.]+ m?s: WITH RECURSIVE .* main\.ts:35/m,
  );
  await printed(
    "/capital",
    /^ {3}! TypeError: Cannot read capital, token=REDACTED main\.ts:40/m,
  );
  await printed(
    "/audit",
    /^ {3}! Error: The audit log is full of \S+ main\.ts:48 \(GET \/audit\)$/m,
    2,
  );
  const again = await visit(url, "/countries/DEU", { planted: "1" });
  const known = async () => {
    const found = await ask();
    return found.find(({ rule }) => rule === "repeated-query")?.count === 2
      ? found
      : undefined;
  };
  let found: Finding[] | undefined;
  while ((found = await known()) === undefined) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const causes = found.map(({ rule, route, location }) =>
    `${rule} ${route} ${location}`
  );
  assertEquals(causes.sort(), [
    "exception GET /capital main.ts:40",
    "idle-cache GET /count main.ts:22",
    "repeated-query GET /countries/:code main.ts:15",
    "slow-query GET /largest main.ts:35",
    "unhandled-rejection GET /audit main.ts:48",
  ]);
  // Each cause is printed once.
  assertEquals(child.stdout.match(/^ {3}! /gm)?.length, 5);
  for (const traceId of [id, again]) {
    const [finding, ...others] = await ask(`?traceId=${traceId}`);
    assertEquals([finding!.traceId, others], [traceId, []]);
    assertMatch(finding!.message, /^9 × SELECT/);
  }
  const refused = await fetch(new URL("/__app/traces/findings", url), {
    headers: { origin: "https://evil.example" },
  });
  assertEquals(refused.status, 403);
  await refused.body?.cancel();
  await assertAssistantFinds(url, causes);
});

/** Checks that the tools for assistants lead to causes and their lines. */
async function assertAssistantFinds(url: URL, causes: readonly string[]) {
  await using assistant = await connectAssistant(
    new URL("/__app/traces/mcp", url),
  );
  assertMatch(
    await assistant.call("summary"),
    /^5 findings: call findings.*\nThe latest error: GET \/capital 500 TypeError/m,
  );
  for (const cause of causes) {
    const [rule, method, path, line] = cause.split(" ");
    const found = await assistant.call("findings", { rule });
    assertMatch(
      found,
      new RegExp(`^1 finding, .*\n- ${rule}: .* ${line}$`, "m"),
    );
    assertStringIncludes(found, `\n  ${method} ${path}, `);
    const [, id] = /get_trace id ([\da-f]{32})/.exec(found)!;
    const trace = await assistant.call("get_trace", { id });
    assertStringIncludes(
      trace,
      `GET ${path === "/countries/:code" ? "/countries/DEU" : path} `,
    );
    // The promise was rejected after the request.
    if (rule !== "unhandled-rejection") assertStringIncludes(trace, line!);
  }
  assertMatch(
    await assistant.call("recent_errors"),
    /^- GET \/capital 500 TypeError: Cannot read capital, token=REDACTED main\.ts:40$/m,
  );
  assertMatch(
    await assistant.call("slow_routes", { route: "/largest" }),
    /in 1 × WITH RECURSIVE .* main\.ts:35$/m,
  );
}

Deno.test("A client that leaves while its body is read isn't a cause", async () => {
  await using served = await serveApp(
    `export default {
      async fetch(request) {
        Deno.stdout.writeSync(new TextEncoder().encode("reads\\n"));
        await request.text();
        throw new Error("no room");
      },
    };`,
    "--trace",
  );
  const { child, url } = served;
  const leave = {
    "/close": (socket: Socket) => socket.destroy(),
    "/reset": (socket: Socket) => socket.resetAndDestroy(),
  };
  for (const [path, leaveBy] of Object.entries(leave)) {
    const socket = connect(Number(url.port), url.hostname);
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: ${url.host}\r\ncontent-length: 9\r\n\r\na`,
    );
    await child.printed(path === "/close" ? /reads\n/ : /reads\n[^]*reads\n/);
    leaveBy(socket);
    await child.printed(new RegExp(`^POST ${path} 500`, "m"));
  }
  await visit(url, "/last");
  await child.printed(/! Error: no room/);
  const response = await fetch(new URL("/__app/traces/findings", url));
  const { findings } = await response.json() as { findings: Finding[] };
  assertEquals(findings.map(({ route }) => route), ["GET /last"]);
});

Deno.test("A stream that fails is a cause with its line, and a client that leaves it isn't", async () => {
  await using served = await serveApp(
    `const headers = { "content-type": "text/html" };
    const wait = () => new Promise((resolve) => setTimeout(resolve, 10));
    const endless = { async pull(controller) {
      await wait();
      controller.enqueue(new Uint8Array(1));
    } };
    const failing = { async pull() {
      await wait();
      throw new TypeError("no rows left");
    } };
    export default {
      fetch: (request) => new Response(
        new ReadableStream(request.url.endsWith("left") ? endless : failing),
        { headers },
      ),
    };`,
    "--trace",
  );
  const { child, url } = served;
  await visit(url, "/left");
  await child.printed(/^GET \/left 200/m);
  for (const dest of ["document", "empty"]) {
    const response = await fetch(new URL(`/${dest}`, url), {
      headers: { "sec-fetch-dest": dest },
    });
    await assertRejects(() => response.text());
    await child.printed(
      new RegExp(
        `^GET /${dest} 200 .* TypeError: no rows left main.ts:9$`,
        "m",
      ),
    );
    await child.printed(
      new RegExp(
        `! TypeError: no rows left main.ts:9 \\(GET /${dest}\\)$`,
        "m",
      ),
    );
  }
  const response = await fetch(new URL("/__app/traces/findings", url));
  const { findings } = await response.json() as { findings: Finding[] };
  assertEquals(findings.length, 2);
});

Deno.test("An error that a framework logs and answers is a cause, with its line", async () => {
  await using served = await serveApp(
    `import { Hono } from "hono";
    const app = new Hono();
    app.get("/notes", () => {
      throw new TypeError("no notes");
    });
    app.get("/retried", (c) => {
      console.error(new Error("the first try failed"));
      return c.text("done");
    });
    app.get("/down", (c) => {
      console.warn(new Error("slow"));
      return c.text("later", 503);
    });
    export default app;`,
    "--trace",
  );
  const { child, url } = served;
  await visit(url, "/retried");
  await visit(url, "/down");
  await visit(url, "/notes");
  await child.printed(/^GET \/notes 500 .* TypeError: no notes main\.ts:4$/m);
  await child.printed(/! TypeError: no notes main\.ts:4 \(GET \/notes\)$/m);
  const response = await fetch(new URL("/__app/traces/findings", url));
  const { findings } = await response.json() as { findings: Finding[] };
  assertEquals(findings.map(({ route }) => route), ["GET /notes"]);
});

Deno.test("Exceptions that nothing catches are causes, in listeners, microtasks and timers", async () => {
  await using served = await serveApp(
    `addEventListener("error", (event) => event.preventDefault());
    const target = new EventTarget();
    target.addEventListener("sold", () => {
      throw new RangeError("no stock");
    });
    const work = {
      "/sell": () => target.dispatchEvent(new Event("sold")),
      "/log": () => queueMicrotask(() => { throw new Error("no disk"); }),
      "/later": () => setTimeout(() => { throw new TypeError("no one"); }, 1),
    };
    export default {
      fetch(request) {
        work[new URL(request.url).pathname]();
        return new Response("done");
      },
    };`,
    "--trace",
  );
  const { child, url } = served;
  for (const path of ["/sell", "/log", "/later"]) await visit(url, path);
  await child.printed(/! RangeError: no stock main\.ts:4 \(GET \/sell\)$/m);
  await child.printed(/! Error: no disk main\.ts:8 \(GET \/log\)$/m);
  // Deno doesn't say which request has started a timer.
  await child.printed(/! TypeError: no one main\.ts:9/m);
  await using assistant = await connectAssistant(
    new URL("/__app/traces/mcp", url),
  );
  const found = await assistant.call("findings", { rule: "exception" });
  assertMatch(found, /^3 findings/);
  assertMatch(
    found,
    /no one main\.ts:9\n {2}.*last .* ago\n {2}(?:get_trace id [\da-f]{32}|outside of a request)/,
  );
});
