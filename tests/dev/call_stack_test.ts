/**
 * The line of user code in the texts of call stacks, as each runtime writes them.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { CallStack, userLine } from "../../dev/locations/call_stack.ts";
import { ROOT } from "../helpers.ts";

/** Returns the place that is found below a message. */
function placeIn(...frames: string[]): string | undefined {
  const text = ["Error: no", ...frames.map((frame) => `    at ${frame}`)];
  const line = userLine(text.join("\n"));
  return line && `${line["code.file.path"]}:${line["code.line.number"]}`;
}

const USER = "load (file:///app/src/posts.ts:41:9)";
const PLACE = "/app/src/posts.ts:41";

Deno.test("The line of user code is found in the stacks of all runtimes", () => {
  for (
    const frame of [
      // V8, with and without a name.
      USER,
      "async load (file:///app/src/posts.ts:41:9)",
      "file:///app/src/posts.ts:41:9",
      "async file:///app/src/posts.ts:41:9",
      "new Posts (file:///app/src/posts.ts:41:9)",
      "Posts.load [as all] (file:///app/src/posts.ts:41:9)",
      // Node's CommonJS modules, and Bun.
      "load (/app/src/posts.ts:41:9)",
      "/app/src/posts.ts:41:9",
      "<anonymous> (/app/src/posts.ts:41:9)",
    ]
  ) assertEquals(placeIn(frame), PLACE, frame);
  assertEquals(
    placeIn("load (file:///app/my%20posts%20%5Bid%5D.ts:4:9)"),
    "/app/my posts [id].ts:4",
  );
});

Deno.test("Frames of the kit, the runtime and packages are skipped", () => {
  for (
    const frame of [
      `inSpan (${ROOT.href}trace/record/context.ts:107:25)`,
      `Object.query (${ROOT.href}data/engine.ts:7:1)`,
      "AsyncLocalStorage.run (ext:deno_node/async_hooks.ts:1:1762)",
      "AsyncLocalStorage.run (node:async_hooks:346:14)",
      "async Promise.all (index 0)",
      "JSON.parse (<anonymous>)",
      "Array.map (native)",
      "eval (eval at load (file:///app/src/other.ts:1:1), <anonymous>:1:1)",
      "query (file:///app/node_modules/pg/lib/client.js:5:1)",
      "query (/app/node_modules/.pnpm/pg@8/node_modules/pg/client.js:5:1)",
      "query (file:///home/ada/.cache/deno/npm/registry.npmjs.org/pg/8.1.0/client.js:5:1)",
      "query (/home/ada/.bun/install/cache/pg@8.1.0/client.js:5:1)",
      "query (/app/.yarn/cache/pg.zip/client.js:5:1)",
      "query (https://jsr.io/@db/sqlite/0.12.0/mod.ts:5:1)",
      "query (https://deno.land/x/mysql/mod.ts:5:1)",
      "query (data:application/javascript;base64,AAAA:5:1)",
      "query (blob:null/6b2c:5:1)",
      "query (wasm://wasm/1234:wasm-function[7]:0x1)",
      "query (file://server/share/posts.ts:5:1)",
      "no place at all",
    ]
  ) {
    assertEquals(placeIn(frame), undefined, frame);
    assertEquals(placeIn(frame, USER), PLACE, frame);
  }
});

Deno.test("The caller of the kit's host isn't the cause of what the host does", () => {
  const host = `${ROOT.href}app/endpoints.ts:168:15`;
  assertEquals(placeIn(host, USER), undefined);
  assertEquals(placeIn(USER, host), PLACE);
});

Deno.test("A stack is captured even if the app has frozen or replaced parts of Error", () => {
  const names = ["stackTraceLimit", "prepareStackTrace"] as const;
  const descriptors = names.map((name) =>
    [name, Object.getOwnPropertyDescriptor(Error, name)] as const
  );
  try {
    Error.prepareStackTrace = () => {
      throw new Error("no");
    };
    assert(new CallStack().line() !== undefined);
    Reflect.set(Error, "prepareStackTrace", undefined);
    for (const name of names) {
      Object.defineProperty(Error, name, { writable: false });
    }
    const { stackTraceLimit } = Error;
    const stack = new CallStack();
    assertEquals(Error.stackTraceLimit, stackTraceLimit);
    assertEquals(
      stack.line()?.["code.file.path"],
      new URL(import.meta.url).pathname,
    );
  } finally {
    for (const [name, descriptor = {}] of descriptors) {
      Object.defineProperty(Error, name, { writable: true, ...descriptor });
    }
  }
});

Deno.test("A stack of any length and form is read in linear time", () => {
  for (
    const part of ["(", ":", " at ", "    at ", "file:///", "async ", "\n"]
  ) {
    const text = `    at ${part.repeat(200_000)}:1:2`;
    assert(userLine(text) === undefined, part);
  }
  for (
    const text of ["", "Error: no", "\0", "    at ", "    at ()", "at x:1:2"]
  ) {
    assertEquals(userLine(text), undefined, text);
  }
});
