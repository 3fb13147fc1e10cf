/**
 * `Deno.test` for Node and Bun: collects tests and runs them in order.
 *
 * @module
 */

import process from "node:process";
import { dispatchError, removeErrorListeners } from "./error_events.ts";
import { restoreGlobals } from "./globals.ts";
import { listenForNeeds } from "./needs_deno.ts";
import { closeServers } from "./serve.ts";

type TestFn = (t: TestContext) => unknown;

interface TestDefinition {
  readonly name: string;
  readonly fn: TestFn;
  readonly ignore?: boolean;
}

/** Argument of a test function, as in Deno. */
export interface TestContext {
  readonly name: string;
  step(...args: TestArgs): Promise<boolean>;
}

type TestArgs =
  | [definition: TestDefinition]
  | [name: string, fn: TestFn]
  | [fn: TestFn]
  | [options: Omit<TestDefinition, "fn">, fn: TestFn];

/** Result of a test. */
export interface Outcome {
  readonly name: string;
  readonly state: "passed" | "failed" | "ignored" | "left out";
  /** The error, or the reason why it was skipped. */
  readonly reason?: string;
  /** Whether it was left out but is still running. */
  readonly isRunning?: boolean;
}

/** Milliseconds after which a test counts as hanging, even on a busy machine. */
const TIMEOUT = 120_000;

/**
 * Node's error for a streamed body without `duplex`, which Deno doesn't need.
 */
const WANTS_DUPLEX = /RequestInit: duplex option is required/;

/** Tests may replace the globals. */
const { setTimeout, clearTimeout } = globalThis;

let tests: TestDefinition[] = [];

/** Same as `Deno.test`. */
export function register(...args: TestArgs): void {
  tests.push(definitionOf(args));
}

/**
 * Loads a file and runs the tests that it registers.
 *
 * @param leftOut Names of tests to skip, with the reason.
 */
export async function runFile(
  url: string,
  leftOut: ReadonlyMap<string, string>,
): Promise<Outcome[]> {
  tests = [];
  const name = "The file as a whole";
  const loaded = await runTest({ name, fn: () => import(url) });
  if (loaded.state !== "passed") return [loaded];
  const outcomes: Outcome[] = [];
  for (const test of tests) {
    const { name } = test;
    const reason = leftOut.get(name);
    outcomes.push(
      reason === undefined
        ? await runTest(test)
        : { name, state: "left out", reason },
    );
  }
  return outcomes;
}

/** Fails the running test because of an uncaught error. */
let fail: (error: unknown) => void = () => {};

process.on("unhandledRejection", (error) => fail(error));
process.on("uncaughtException", (error) => {
  if (!dispatchError(error)) fail(error);
});

async function runTest({ name, fn, ignore }: TestDefinition): Promise<Outcome> {
  if (ignore) return { name, state: "ignored" };
  const needs = listenForNeeds().then((reason): Outcome => ({
    name,
    state: "left out",
    reason,
  }));
  const failed = (error: unknown): Outcome => {
    const reason = describe(error);
    return WANTS_DUPLEX.test(reason) && !reason.includes("/@quartet/kit/")
      ? {
        name,
        state: "left out",
        reason: "its fetch requires duplex to send a stream",
      }
      : { name, state: "failed", reason };
  };
  const uncaught = Promise.withResolvers<Outcome>();
  fail = (error) => uncaught.resolve(failed(error));
  const timer = setTimeout(
    () => fail(new Error(`It takes more than ${TIMEOUT} ms`)),
    TIMEOUT,
  );
  const done = (async (): Promise<Outcome> => {
    try {
      await fn(contextOf(name));
      return { name, state: "passed" };
    } catch (error) {
      // If it has used an API that only Deno has, that is the reason.
      await Promise.resolve();
      return failed(error);
    }
  })();
  const outcome = await Promise.race([needs, uncaught.promise, done]);
  clearTimeout(timer);
  restoreGlobals();
  removeErrorListeners();
  if (outcome.state !== "left out") return outcome;
  closeServers();
  // Most end soon after the call that failed.
  const waited = new Promise((resolve) => setTimeout(resolve, 20));
  const hasEnded = await Promise.race([done, waited]) !== undefined;
  return { ...outcome, isRunning: !hasEnded };
}

function contextOf(name: string): TestContext {
  return {
    name,
    async step(...args) {
      const definition = definitionOf(args);
      if (definition.ignore) return false;
      await definition.fn(contextOf(definition.name));
      return true;
    },
  };
}

function definitionOf(args: TestArgs): TestDefinition {
  const [first, second] = args;
  if (typeof first === "function") return { name: first.name, fn: first };
  if (typeof first === "string") return { name: first, fn: second! };
  return { ...first, fn: second ?? (first as TestDefinition).fn };
}

/** Returns an error as text, including its causes. */
export function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // The runtimes differ in whether a stack begins with the message.
  const text = error.stack?.includes(error.message)
    ? error.stack
    : `${error}\n${error.stack}`;
  const cause = error.cause === undefined ? "" : `\n${describe(error.cause)}`;
  return text + cause;
}
