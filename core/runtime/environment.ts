/**
 * Facts about the process: whether it runs in production, and what the dev command
 * has set. Also modules of Node that few requests need, loaded at their first use.
 *
 * @module
 */

import { show } from "../check/rules.ts";
import type { Attributes } from "../observed_span.ts";

const NAMES = ["DENO_DEPLOYMENT_ID", "DENO_ENV", "NODE_ENV"] as const;

const KNOWN = ["development", "production", "test"];

/**
 * Whether this process runs in production: `DENO_ENV` or `NODE_ENV` is
 * `production`, or it runs on Deno Deploy. If the environment can't be read, it
 * counts as production, so that defaults are secure. Any other value counts as
 * development. An unknown one may be a mistake, so it's logged once.
 */
export function isProduction(): boolean {
  const values = readVariables();
  if (values === undefined) return true;
  const [deployment, ...environments] = values;
  if (deployment !== undefined || environments.includes("production")) {
    return true;
  }
  const wrong = environments.findIndex((each) => each && !KNOWN.includes(each));
  if (wrong !== -1) warn(NAMES[1 + wrong]!, environments[wrong]!);
  return false;
}

/** Whether this process has warned of an unknown environment. */
let isWarned = false;

function warn(variable: string, value: string): void {
  if (isWarned) return;
  isWarned = true;
  // `printable()` imports this file.
  const shown = show(value).replaceAll(/[^ -~…]/g, "?");
  console.warn(
    `${variable} is ${shown}, which counts as development. In production, set it to "production". Known values: ${
      KNOWN.join(", ")
    }`,
  );
}

/** Returns a variable, or `undefined` without permission. Never prompts. */
function readVariables(): (string | undefined)[] | undefined {
  if ("Deno" in globalThis) {
    const isGranted = NAMES.every((variable) =>
      Deno.permissions.querySync({ name: "env", variable }).state === "granted"
    );
    return isGranted ? NAMES.map((name) => Deno.env.get(name)) : undefined;
  }
  const { process } = globalThis as {
    process?: { env?: Record<string, string | undefined> };
  };
  const env = process?.env;
  return env && NAMES.map((name) => env[name]);
}

/** Global, because the command and the app may load copies of the package. */
const DEV = Symbol.for("@quartet/kit/dev");
const notes = globalThis as { [DEV]?: boolean };

/** Marks this process as run by the dev command. */
export function noteDevCommand(): void {
  notes[DEV] = true;
}

/** Whether the dev command runs this process. */
export function isDevCommand(): boolean {
  return notes[DEV] === true;
}

/**
 * The key of the function that finds the line of user code that calls the kit. Only
 * the dev command sets it, as finding the line takes longer than most calls.
 */
const CALL_SITE = Symbol.for("@quartet/kit/call-site");
const hooks = globalThis as {
  [CALL_SITE]?: (() => Attributes | undefined) | undefined;
};

let definitions: WeakMap<object, Attributes> | undefined;

/**
 * Sets the function that finds the calling line, or removes it.
 *
 * @param find Returns `code.file.path` and `code.line.number`, if it finds them.
 */
export function findCallSites(
  find: (() => Attributes | undefined) | undefined,
) {
  hooks[CALL_SITE] = find;
}

/** Notes that the calling line defines `value`, such as a procedure's handler. */
export function noteDefinition(value: object): void {
  const site = hooks[CALL_SITE]?.();
  if (site !== undefined) (definitions ??= new WeakMap()).set(value, site);
}

/** Returns the line that defines `value`, as attributes of a span. */
export function definitionOf(value: object): Attributes | undefined {
  return definitions?.get(value);
}

type NodeBuffer = typeof import("node:buffer");
type NodeCrypto = typeof import("node:crypto");
type NodeUtil = typeof import("node:util");

// Declared here: `node:process` would be another module to load.
declare const process: {
  getBuiltinModule(id: "node:buffer"): NodeBuffer;
  getBuiltinModule(id: "node:crypto"): NodeCrypto;
  getBuiltinModule(id: "node:util"): NodeUtil;
};

let buffer: NodeBuffer | undefined;
let crypto: NodeCrypto | undefined;
let util: NodeUtil | undefined;

/** Returns the bytes of a text in UTF-8. Encoding it takes 15 times as long. */
export function byteLength(text: string): number {
  buffer ??= process.getBuiltinModule("node:buffer");
  return buffer.Buffer.byteLength(text);
}

/**
 * Returns `node:crypto`. Importing it takes 13 ms of a cold start, and most
 * requests need only Web Crypto.
 */
export function nodeCrypto(): NodeCrypto {
  return crypto ??= process.getBuiltinModule("node:crypto");
}

/** Returns `node:util`. Importing it takes 2 ms, and only errors need it. */
export function nodeUtil(): NodeUtil {
  return util ??= process.getBuiltinModule("node:util");
}
