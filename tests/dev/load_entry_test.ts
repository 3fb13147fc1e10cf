import { assertEquals, assertMatch, assertNotMatch } from "@std/assert";
import { addressOf, makeFolder, runDev, startDev } from "./dev_command.ts";

const MISSING = "there is no such file; paths start at the current folder";
const MUST = "it must default-export an app or an object with a fetch method";
const OTHER_SERVER =
  "a server whose handlers take (req, res), such as Express's; the dev command needs handlers that take a Request: docs/servers.md#on-node-and-bun";

for (
  const [what, text, message] of [
    [
      "throws",
      '\nthrow new RangeError("no database\\nat all")',
      "Cannot load a.ts: it threw RangeError: no database (at a.ts:2:7)",
    ],
    [
      "throws an error without a message",
      "throw new Error()",
      "Cannot load a.ts: it threw Error (at a.ts:1:7)",
    ],
    [
      "rejects",
      'await Promise.reject(new Error("later"))',
      "Cannot load a.ts: it threw Error: later (at a.ts:1:22)",
    ],
    [
      "passes a wrong option",
      'import { createApp } from "@quartet/kit/app";\nconst app =\n  createApp({ route: [] });',
      'Cannot load a.ts: it threw TypeError: Cannot create app: unknown option "route"; did you mean routes? Known options: plugins, routes, trace, maxBodySize, onError (at a.ts:3:3)',
    ],
    [
      "throws text with two lines",
      'throw "a\\nb"',
      'Cannot load a.ts: it threw "a\\nb"',
    ],
    [
      "throws terminal control characters",
      'throw new Error("\\x1b[2J")',
      "Cannot load a.ts: it threw Error: \\x1b[2J (at a.ts:1:7)",
    ],
    [
      "throws an object that can't be printed",
      "throw Object.create(null)",
      "Cannot load a.ts: it threw [Object: null prototype] {}",
    ],
    [
      "throws undefined",
      "throw undefined",
      "Cannot load a.ts: it threw undefined",
    ],
    [
      "has no default export",
      "export const a = 1",
      `Cannot serve a.ts: ${MUST}, received no default export; instead of starting a server, export default app, or { fetch: handler }`,
    ],
    [
      "finds its port in use",
      'throw new Deno.errors.AddrInUse("Address already in use")',
      "Cannot load a.ts: it threw AddrInUse: Address already in use (at a.ts:1:7); instead of starting a server, export default app, or { fetch: handler }",
    ],
    [
      "exports a number",
      "export default 5",
      `Cannot serve a.ts: ${MUST}, received a number`,
    ],
    [
      "exports a function",
      'export default () => new Response("x")',
      `Cannot serve a.ts: ${MUST}, received a function; if it takes a Request and returns a Response, export default { fetch: thatFunction }`,
    ],
    [
      "exports an app like Express's",
      "export default Object.assign((req, res) => {}, { handle() {}, listen() {} })",
      `Cannot serve a.ts: ${MUST}, received ${OTHER_SERVER}`,
    ],
    [
      "exports a server of node:http",
      'import { createServer } from "node:http"; export default createServer()',
      `Cannot serve a.ts: ${MUST}, received ${OTHER_SERVER}`,
    ],
    [
      "exports null",
      "export default null",
      `Cannot serve a.ts: ${MUST}, received null`,
    ],
    [
      "exports a promise",
      "export default Promise.resolve({ fetch: () => new Response() })",
      `Cannot serve a.ts: ${MUST}, received a promise; await it`,
    ],
    [
      "exports an object without fetch",
      "export default {}",
      `Cannot serve a.ts: ${MUST}, received an object without one`,
    ],
    [
      "exports a fetch that isn't a function",
      "export default { fetch: 5 }",
      `Cannot serve a.ts: ${MUST}, received an object without one`,
    ],
  ] as const
) {
  Deno.test(`An entry that ${what} is reported in one line with exit code 1`, async () => {
    await using folder = await makeFolder();
    const outcome = await runDev([
      await folder.write("a.ts", text),
      "--port",
      "0",
    ], folder);
    assertEquals(outcome, {
      code: 1,
      stdout: "",
      stderr: `error: ${message}\n`,
    });
  });
}

for (
  const [what, text, pattern] of [
    [
      "a syntax error",
      "const a = ;",
      /Expression expected.*\(at a\.ts:1:11\)$/,
    ],
    ["no end", "export default {", /Unexpected token.*\(at a\.ts:1:17\)$/],
    [
      "a missing import",
      'import "./none.ts"',
      /Module not found.*none\.ts.*\(at a\.ts:1:8\)$/,
    ],
    [
      "an import without a mapping",
      'import "unmapped"',
      /Import "unmapped" not.*\(at a\.ts:1:8\)$/,
    ],
  ] as const
) {
  Deno.test(`An entry with ${what} is reported in one line with its place`, async () => {
    await using folder = await makeFolder();
    const { code, stdout, stderr } = await runDev([
      await folder.write("a.ts", text),
      "--port",
      "0",
    ], folder);
    assertEquals([code, stdout], [1, ""]);
    const [line, ...rest] = stderr.split("\n");
    assertEquals(rest, [""]);
    assertMatch(line!, /^error: Cannot load a\.ts: /);
    assertMatch(line!, pattern);
  });
}

Deno.test("An entry with a missing import is reported with its place in a terminal with colors", async () => {
  await using folder = await makeFolder();
  const entry = await folder.write("a.ts", 'import "./none.ts"');
  const env = { NO_COLOR: "", FORCE_COLOR: "1" };
  await using child = startDev([entry, "--port", "0"], folder, ["-A"], { env });
  assertEquals(await child.code, 1);
  assertMatch(child.stderr, /^error: .*none\.ts.*\(at a\.ts:1:8\)\n$/);
});

Deno.test("An entry that awaits its own server is reported, with what to export", async () => {
  await using folder = await makeFolder();
  const text = `const options = { port: 0, onListen() {} };
await Deno.serve(options, () => new Response()).finished;`;
  const path = await folder.write("a.ts", text);
  await using child = startDev([path, "--port", "0"], folder);
  const [line] = await child.printed(/^.+\n/);
  assertEquals(
    line,
    "a.ts is still loading; if it awaits its own server: instead of starting a server, export default app, or { fetch: handler }\n",
  );
});

Deno.test("An entry that isn't a file is reported in one line with exit code 1", async () => {
  await using folder = await makeFolder();
  await folder.write("a.ts", "");
  for (
    const [entry, reason] of [
      ["none.ts", MISSING],
      ["a.ts/b.ts", MISSING],
      [".", "it is not a file"],
    ] as const
  ) {
    const { code, stdout, stderr } = await runDev([entry], folder);
    assertEquals([code, stdout], [1, ""]);
    assertEquals(stderr, `error: Cannot load ${entry}: ${reason}\n`);
  }
});

Deno.test("An entry whose name contains URL characters is found", async () => {
  await using folder = await makeFolder();
  const name = "a b#c?100%é.ts";
  await folder.write(
    name,
    'export default { fetch: () => new Response("found") }',
  );
  await using child = startDev([name, "--port", "0"], folder);
  const response = await fetch(await addressOf(child));
  assertEquals(await response.text(), "found");
});

Deno.test("An entry's output comes before the address, and errors of its requests are logged", async () => {
  await using folder = await makeFolder();
  await folder.write(
    "a.ts",
    `console.log("loading");
    export default {
      fetch() { throw new Error("hunter2"); },
      close() { console.log("closed"); },
    };`,
  );
  await using child = startDev(["a.ts", "--port", "0"], folder);
  const response = await fetch(await addressOf(child));
  assertEquals(response.status, 500);
  assertNotMatch(await response.text(), /hunter2/);
  assertMatch(child.stdout, /^loading\nListening on /);
  child.kill("SIGINT");
  assertEquals(await child.code, 0);
  assertMatch(child.stdout, /closed\n$/);
  assertMatch(child.stderr, /Error: hunter2/);
});

Deno.test("An entry whose fetch returns no Response is named in the error, with the request", async () => {
  await using folder = await makeFolder();
  await folder.write("a.ts", "export default { fetch: () => [] };");
  await using child = startDev(["a.ts", "--port", "0"], folder);
  const url = new URL("/b?token=hidden", await addressOf(child));
  const response = await fetch(url);
  await response.body?.cancel();
  assertEquals(response.status, 500);
  child.kill("SIGINT");
  assertEquals(await child.code, 0);
  assertMatch(
    child.stderr,
    /Cannot answer GET \/b: fetch of a\.ts must return a Response, received an array\n/,
  );
});

Deno.test("An entry that throws after loading ends the command, which shows the place", async () => {
  await using folder = await makeFolder();
  await folder.write(
    "a.ts",
    `export default { fetch() {
      setTimeout(() => { throw new Error("later"); });
      return new Response("ok");
    } };`,
  );
  await using child = startDev(["a.ts", "--port", "0"], folder);
  const response = await fetch(await addressOf(child));
  await response.body?.cancel();
  assertEquals(await child.code, 1);
  assertMatch(child.stderr, /Uncaught Error: later\n[^]*a\.ts:2:/);
});
