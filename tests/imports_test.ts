/**
 * Imports leave to later what takes long to load.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import config from "../deno.json" with { type: "json" };
import { ROOT, startDeno } from "./helpers.ts";

/** Globals that Deno loads when code first touches them. */
const LATE = [
  "Buffer",
  "Headers",
  "Request",
  "Response",
  "WebSocket",
  "crypto",
  "process",
  "setTimeout",
];

const SCRIPT = `
  const [names, paths] = JSON.parse(Deno.args[0]);
  const touched = [];
  for (const name of names) {
    const { get, ...rest } = Object.getOwnPropertyDescriptor(globalThis, name);
    Object.defineProperty(globalThis, name, {
      ...rest,
      get() {
        touched.push(name);
        return get.call(globalThis);
      },
    });
  }
  for (const path of paths) await import(path);
  const imported = [...touched];
  const seen = names.filter((name) => globalThis[name] && touched.includes(name));
  console.log(JSON.stringify({ imported, seen }));
`;

Deno.test("Imports touch no global that Deno loads at its first use", async () => {
  const paths = Object.values<string>(config.exports)
    .map((path) => new URL(path, ROOT).href);
  const input = JSON.stringify([LATE, paths]);
  await using child = startDeno(["eval", SCRIPT, input]);
  assertEquals(await child.code, 0, child.stderr);
  assertEquals(JSON.parse(child.stdout), { imported: [], seen: LATE });
});
