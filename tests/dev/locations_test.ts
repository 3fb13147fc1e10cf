/**
 * The lines of user code behind spans, under the dev command.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import type { SerializedTrace } from "@quartet/kit/trace";
import { addressOf, makeFolder, startDev } from "./dev_command.ts";

/** The app's lines have marks, so that tests don't count lines. */
const APP = `import { createApp } from "@quartet/kit/app";
import { createCache } from "@quartet/kit/data";
import { createRouter, procedure, rpcPlugin } from "@quartet/kit/rpc";
import { tracedAdapter, tracedFetch, withSpan } from "@quartet/kit/trace";
import { DatabaseSync } from "node:sqlite";
import { rows } from "./node_modules/orm/mod.ts";

// The compiler removes these lines, so the lines of its output differ.
interface Removed {
  id: string;
  name: string;
}

const db = tracedAdapter(new DatabaseSync(":memory:"), { system: "sqlite" });
const cache = createCache();
const find = cache.cacheFunction(async (id: Removed["id"]) => {
  await Promise.resolve();
  return rows(db, id); // db.query
}, ["find"]);
const router = createRouter({
  greet: procedure.query(() => "hello"), // rpc:greet
  fail: procedure.query(() => {
    throw new Error("no"); // rpc:fail
  }),
});
const send = tracedFetch();
async function load(url: string): Promise<string> {
  await find("1"); // cache.get
  await withSpan("work", "custom", async () => { // work
    await Promise.resolve();
    withSpan("step", "custom", () => {}); // step
  });
  await (await send(new URL("/api/rpc/greet", url))).text(); // fetch
  return "done";
}
const app = createApp({
  plugins: [rpcPlugin({ router })],
  routes: [{
    path: "/all",
    loader: ({ request }) => load(request.url),
  }, {
    path: "/throw",
    loader: () => {
      withSpan("parse", "custom", () => { 
        JSON.parse("{"); // parse
      });
    },
  }, {
    path: "/rows",
    loader: () => {
      const rows = Array.from({ length: 250_000 }, (_, i) => i / 3);
      const count = () => withSpan("count", "custom", () => rows.length);
      return count();
    },
  }, {
    path: "/memory",
    loader: () => {
      globalThis.gc();
      return Deno.memoryUsage().heapUsed / 1024 / 1024;
    },
  }],
});
app.use((_request, _context, next) => next());
export default app;
`;

const ORM = `export function rows(db, id) {
  return db.prepare("SELECT ? AS id").all(id);
}
`;

/** Returns the location of each span of all traces, by name. */
async function locations(url: URL): Promise<Map<string, string>> {
  const response = await fetch(new URL("/__app/traces/api", url));
  const { traces } = await response.json() as { traces: SerializedTrace[] };
  const found = new Map<string, string>();
  for (const { name, attributes } of traces.flatMap(({ spans }) => spans)) {
    const { "code.file.path": path, "code.line.number": line } = attributes;
    const [kind] = name.split(" ", 1);
    found.set(kind!, path === undefined ? "none" : `${path}:${line}`);
  }
  return found;
}

Deno.test("Under the dev command, spans know the line of user code that caused them", async (t) => {
  await using folder = await makeFolder();
  await Deno.mkdir(`${folder.path}/node_modules/orm`, { recursive: true });
  await folder.write("node_modules/orm/mod.ts", ORM);
  await folder.write("main.ts", APP);
  await using child = startDev(
    ["main.ts", "--port", "0", "--trace"],
    folder,
    ["-A", "--v8-flags=--expose-gc"],
  );
  const url = await addressOf(child);
  for (const path of ["all", "throw", "api/rpc/fail"]) {
    await (await fetch(new URL(path, url))).body?.cancel();
  }
  const found = await locations(url);
  const lineOf = (mark: string) => {
    const index = APP.split("\n").findIndex((line) =>
      line.endsWith(`// ${mark}`)
    );
    assert(index !== -1, mark);
    return `${folder.path}/main.ts:${index + 1}`;
  };

  for (
    const [span, what] of [
      ["db.query", "a query below an ORM and an await"],
      ["cache.get", "a cached function"],
      ["work", "withSpan()"],
      ["step", "withSpan() inside of another one, after an await"],
      ["fetch", "a request to another service"],
      ["rpc:greet", "a procedure, which is its definition"],
      ["parse", "a span that threw, which is the throwing line"],
      ["rpc:fail", "a procedure that threw, which is the throwing line"],
    ] as const
  ) {
    await t.step(`of ${what}`, () => {
      assertEquals(found.get(span), lineOf(span));
    });
  }

  await t.step(
    "without keeping the variables of that code in memory",
    async () => {
      const ask = async (path: string) =>
        await (await fetch(new URL(path, url))).json();
      const before = await ask("/memory");
      // 2 MB each.
      for (let i = 0; i < 60; i++) await ask("/rows");
      for (;;) {
        if (await ask("/memory") - before < 60) break;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
  );

  await t.step("unless only the host caused them", () => {
    assertEquals(found.get("GET"), "none");
    assertEquals(found.get("route.match"), "none");
    assertEquals(found.get("loader:/all"), "none");
  });
});
