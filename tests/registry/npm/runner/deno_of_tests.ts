/**
 * Replacement for the global `Deno` in tests on Node and Bun. A test that uses
 * anything else of `Deno` is skipped.
 *
 * @module
 */

import { inspect } from "node:util";
import process from "node:process";
import { serve } from "./serve.ts";
import { register } from "./tests.ts";
import { needsDeno } from "./needs_deno.ts";

const known: Record<string, unknown> = {
  test: register,
  inspect: inspectAsDeno,
  serve,
  memoryUsage: () => process.memoryUsage(),
  env: {
    get: (name: string) => process.env[name],
    set: (name: string, value: string) => void (process.env[name] = value),
    delete: (name: string) => void delete process.env[name],
  },
};

/** Formats strings with Deno's quotes, and other values as the runtime does. */
function inspectAsDeno(value: unknown, options?: object): string {
  return typeof value === "string" && !/["\n\\]/.test(value)
    ? `"${value}"`
    : inspect(value, options);
}

/** Replaces `Deno` in bundled tests. It isn't a global. */
export const denoOfTests: unknown = new Proxy(known, {
  get: (_, name) =>
    Object.hasOwn(known, name) ? known[String(name)] : needsDeno(String(name)),
});
