/**
 * What tests get where they say `Deno`, on Node and Bun. What is not here only
 * Deno has; a test that asks for it is left out.
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

/** Node and Bun, which would write a text with other quotes, write all else. */
function inspectAsDeno(value: unknown, options?: object): string {
  return typeof value === "string" && !/["\n\\]/.test(value)
    ? `"${value}"`
    : inspect(value, options);
}

/** Stands where a test says `Deno`. There is no such global. */
export const denoOfTests: unknown = new Proxy(known, {
  get: (_, name) =>
    Object.hasOwn(known, name) ? known[String(name)] : needsDeno(String(name)),
});
