/**
 * Logs of requests under `dev --trace`: on their spans, and once in the terminal.
 *
 * @module
 */

import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { ROOT } from "../helpers.ts";
import { serveApp, visit } from "./dev_command.ts";

const TRACE = new URL("trace/mod.ts", ROOT).href;

const ENTRY = `
  import { createTracer, getActiveSpan, traceMiddleware, withSpan } from "${TRACE}";
  import { createApp } from "${new URL("app/mod.ts", ROOT)}";

  const original = console.log;
  console.log("at start", { nested: [1, 2] });
  const release = Promise.withResolvers();
  const app = createApp();
  app.use(traceMiddleware(createTracer(), { exclude: ["/excluded"] }));
  const get = (path, handler) => app.route({ path, handler: async () =>
    await handler() ?? new Response("ok") });

  get("/spans", () => {
    console.log("at the root %s", "request");
    withSpan("step", "custom", () => {
      console.warn("careful\\nsecond line");
      withSpan("inner", "custom", () => console.error({ why: "because" }));
    });
  });
  get("/methods", () => {
    console.info("an info");
    console.debug("a debug");
    console.table([{ name: "ada" }]);
    console.dir({ a: { b: 1 } }, { depth: 0 });
    console.assert(true, "silent");
    console.assert(false, "wrong %d", 3);
    console.trace("here");
    console.group("outer");
    console.log("indented");
    console.groupEnd();
    console.log("ERROR \\u001b[31mlike @std/log\\u001b[39m");
  });
  get("/hostile", () => {
    const cycle = { get size() { original("a getter ran"); return 1; } };
    cycle.self = cycle;
    console.log(cycle);
    console.log({ [Symbol.for("nodejs.util.inspect.custom")]() {
      console.log("nested");
      throw new Error("no");
    } });
    console.log("https://ada:pw@host/?token=abcdef", { password: "hunter2" });
    console.log("x".repeat(10_000));
    console.log(Object.create(null), new Proxy({}, { get() { throw 1; } }));
    console.table([{ user: "ada", password: "hunter2" }]);
    console.log("for", "ada", "password:", "hunter2", "and", "otp", 123456);
    console.log("token: %s", "hunter2");
    console.error("a new password", "is needed");
    console.log("%s uses password: %s, %s=%s", "ada", "hunter", "otp", "abc", "pin");
    console.log("100%% of %s, token:", "ada", "hunter");
    console.assert(false, "%s, %s: %s", "ada", "secret", "hunter");
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    console.error(proxy);
  });
  get("/many", () => {
    for (let i = 0; i < 200; i++) console.log("line", i);
  });
  get("/wide", () => {
    for (let i = 0; i < 70; i++) {
      const name = i < 3 ? "alike" : "step " + i;
      withSpan(name, "custom", () => console.log("from", i));
    }
  });
  get("/excluded", () => console.log("excluded, but printed"));
  get("/slow", async () => {
    console.log("waits for", "a second");
    await release.promise;
    console.log("after that");
  });
  get("/release", () => {
    release.resolve();
    const span = getActiveSpan();
    const timer = setInterval(() => {
      if (span.isOpen) return;
      clearInterval(timer);
      console.log("after the response");
    }, 5);
  });
  get("/exit", () => {
    console.log("last words");
    Deno.exit(0);
  });
  export default app;`;

/** The log records of a span: severity and text. */
function logsOf(span: { events: { attributes: Record<string, string> }[] }) {
  return span.events.map(({ attributes }) => [
    attributes["log.severity"],
    attributes["log.body"]!,
  ]);
}

async function start() {
  const app = await serveApp(ENTRY, "--trace");
  const { child, url } = app;
  return {
    ...app,
    visit: (path: string) => visit(url, path),
    /** Requests a path and returns its spans once it has been printed. */
    async spansOf(path: string) {
      const id = await visit(url, path);
      await child.printed(new RegExp(id));
      const { traces } = await ask(url, "");
      const one = await ask(url, `?id=${id}`);
      const listed = traces.find((trace: { id: string }) => trace.id === id);
      assertEquals(listed.spans, one.spans);
      return one.spans;
    },
  };
}

async function ask(url: URL, query: string) {
  const response = await fetch(new URL(`/__app/traces/api${query}`, url));
  return await response.json();
}

/** Returns the tree of a request, without durations. */
function treeOf(stdout: string, path: string): string {
  const [tree = ""] = new RegExp(`^GET ${path} [^]*?(?=\\n   http)`, "m")
    .exec(stdout) ?? [];
  return tree.replaceAll(/ +[\d.]+ms/g, "");
}

/** Returns the numbers that the first group of a pattern finds. */
function numbersIn(text: string, pattern: RegExp): number[] {
  return Array.from(text.matchAll(pattern), ([, digits]) => Number(digits));
}

Deno.test("Under dev --trace, logs of a request are events of their spans, and printed once below them", async () => {
  await using dev = await start();
  const [root, ...below] = await dev.spansOf("/spans");
  assertEquals(logsOf(root), [["info", "at the root request"]]);
  const [step, inner] = below.filter(({ name }: { name: string }) =>
    name === "step" || name === "inner"
  );
  assertEquals(logsOf(step), [["warn", "careful\nsecond line"]]);
  assertEquals(logsOf(inner), [["error", "{ why: 'because' }"]]);
  assertEquals(
    treeOf(dev.child.stdout, "/spans"),
    `\
GET /spans 200
│  info  at the root request
├─ routing  /spans
└─ custom  step
   │  warn  careful
   │        second line
   └─ custom  inner
         error { why: 'because' }`,
  );
  assertEquals(dev.child.stdout.match(/at the root request/g)?.length, 1);

  const [methods] = await dev.spansOf("/methods");
  const logs = logsOf(methods);
  assertMatch(logs[2]![1]!, /│ 0 {7}│ 'ada' │/);
  assertMatch(logs[5]![1]!, /^Trace: here\n {4}at .*main\.ts:\d+:\d+/);
  logs.splice(5, 1);
  logs.splice(2, 1);
  assertEquals(logs, [
    ["info", "an info"],
    ["debug", "a debug"],
    ["info", "{ a: [Object] }"],
    ["error", "Assertion failed: wrong 3"],
    ["info", "outer"],
    ["info", "  indented"],
    ["error", "ERROR like @std/log"],
  ]);
  assertEquals(dev.child.stderr, "");
});

Deno.test("Recorded logs are bounded and redacted, and inspecting them runs no getters", async () => {
  await using dev = await start();
  const [root] = await dev.spansOf("/hostile");
  const texts = logsOf(root).map(([, text]) => text!);
  assertEquals(texts[0], "<ref *1> { size: [Getter], self: [Circular *1] }");
  assertEquals(texts[1], "(a value that can't be inspected)");
  assertEquals(
    texts[2],
    "https://REDACTED:REDACTED@host/?token=REDACTED { password: 'REDACTED' }",
  );
  assertEquals(texts[3], `${"x".repeat(4_000)}… (6000 more characters)`);
  assertEquals(texts[4], "[Object: null prototype] {} {}");
  assertEquals(texts[5], "[ { user: 'ada', password: 'REDACTED' } ]");
  assertEquals(texts[6], "for ada password: REDACTED and otp REDACTED");
  assertEquals(texts[7], "token: REDACTED");
  assertEquals(texts[8], "a new password is needed");
  assertEquals(texts[9], "ada uses password: REDACTED, otp=REDACTED pin");
  assertEquals(texts[10], "100% of ada, token: REDACTED");
  assertEquals(texts[11], "Assertion failed: ada, secret: REDACTED");
  assertEquals(texts[12], "(a value that can't be inspected)");
  assert(!dev.child.stdout.includes("a getter ran"));
  // A log inside of a log isn't lost either.
  assertMatch(dev.child.stdout, /^nested$/m);
  // The terminal shows the whole text.
  assertStringIncludes(dev.child.stdout, `info  ${"x".repeat(10_000)}\n`);

  const [many] = await dev.spansOf("/many");
  assertEquals([many.events.length, many.droppedEvents], [128, 72]);
  assertEquals(
    numbersIn(dev.child.stdout, /^line (\d+)$/gm),
    Array.from({ length: 200 }, (_, i) => i),
  );
});

Deno.test("Logs of grouped and of hidden spans are printed in their tree, too", async () => {
  await using dev = await start();
  await dev.spansOf("/wide");
  const tree = treeOf(dev.child.stdout, "/wide");
  assertMatch(
    tree,
    /^├─ custom {2}alike × 3\n(?:│ {5}info {2}from \d\n){3}├─ custom {2}step 3\n/m,
  );
  assertMatch(tree, /\n {3}… \d+ more lines\n {3}info {2}from \d+\n/);
  assertEquals(
    numbersIn(tree, /info {2}from (\d+)$/gm),
    Array.from({ length: 70 }, (_, i) => i),
  );
});

Deno.test("Logs that no tree can show are printed by the console", async () => {
  await using dev = await start();
  assertStringIncludes(dev.child.stdout, "at start { nested: [ 1, 2 ] }\n");
  await dev.visit("/excluded");
  await dev.child.printed(/^excluded, but printed$/m);
  const slow = dev.visit("/slow");
  // It is printed while the request still waits.
  await dev.child.printed(/^waits for a second$/m);
  await dev.visit("/release");
  const id = await slow;
  await dev.child.printed(/^after the response$/m);
  await dev.child.printed(new RegExp(id));
  assertMatch(dev.child.stdout, /^after that$/m);
  assertEquals(dev.child.stdout.match(/waits for/g)?.length, 1);
  await dev.visit("/exit").catch(() => {});
  assertEquals(await dev.child.code, 0);
  assertMatch(dev.child.stdout, /^last words$/m);
});
