/**
 * The router under test, and the checks of its answers.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import * as fc from "fast-check";
import { createRouter, procedure } from "@quartet/kit/rpc";
import type { ErrorReport, Router, Transformer } from "@quartet/kit/rpc";
import { z } from "zod";
import { anyJSON, mostly, objectOf } from "../input/json.ts";
import type { JSONValue } from "../input/json.ts";

/** Creates a router whose procedures never fail by themselves. */
export function createSubjectRouter(
  onError: ErrorReport,
  transformer?: Transformer,
): Pick<Router, "handler" | "websocket" | "_def"> {
  const definition = {
    ping: procedure.query(() => "pong"),
    echo: procedure.query(z.unknown(), ({ input }) => input),
    // Copies names from its input, including hostile ones.
    merge: procedure.mutation(
      z.record(z.string(), z.unknown()),
      ({ input }) => Object.assign({}, input),
    ),
    nested: {
      add: procedure.mutation(
        z.object({ a: z.number(), b: z.number().default(1) }),
        ({ input: { a, b } }) => a + b,
      ),
    },
    count: procedure.subscription(
      z.number().int().min(0).max(3),
      async function* ({ input }) {
        for (let i = 0; i < input; i++) yield await Promise.resolve(i);
      },
    ),
    forever: procedure.subscription(async function* ({ signal }) {
      yield "begun";
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    }),
  };
  return transformer === undefined
    ? createRouter(definition, { onError })
    : createRouter(definition, { onError, transformer });
}

/** Mostly the path of a procedure. */
export const path: fc.Arbitrary<JSONValue> = mostly<JSONValue>(
  fc.constantFrom<JSONValue[]>(
    ["ping"],
    ["echo"],
    ["merge"],
    ["nested", "add"],
    ["count"],
    ["forever"],
  ),
  fc.constantFrom<JSONValue[]>(
    ["echo"],
    ["merge"],
    ["count"],
    ["nested"],
    [],
    ["__proto__"],
    ["constructor", "prototype"],
    ["nested", "__proto__", "toString"],
    ["_def"],
  ),
);

/** Mostly the input of a procedure. */
export const procedureInput: fc.Arbitrary<JSONValue> = mostly<JSONValue>(
  anyJSON,
  fc.constantFrom<JSONValue[]>({ a: 1 }, { a: 1, b: 2 }, 2, 3),
);

/** A call in the body of a POST. */
export function call(input: fc.Arbitrary<JSONValue>): fc.Arbitrary<JSONValue> {
  return objectOf({
    path,
    type: mostly(
      fc.constantFrom("query", "query", "mutation", "mutation", "subscription"),
    ),
    input,
  });
}

/** Checks the answer to a call. */
export function checkEnvelope(envelope: unknown): void {
  assert(typeof envelope === "object" && envelope !== null, "an object");
  const { ok, ...rest } = envelope as Record<string, unknown>;
  if (ok === true) {
    assertEquals(Object.keys(rest).filter((key) => key !== "data"), []);
    return;
  }
  assertEquals(ok, false);
  checkFailure(rest["error"]);
}

/** Checks the error of a failed call. */
export function checkFailure(failure: unknown): void {
  const { code, message, details: _, ...rest } = failure as Record<
    string,
    unknown
  >;
  assert(typeof code === "string" && /^[A-Z_]+$/.test(code), `code ${code}`);
  assert(typeof message === "string" && message !== "", "it says why");
  assertEquals(rest, {}, "nothing else is told");
  assert(!/\bat .*:\d+:\d+/.test(JSON.stringify(failure)), "no stack trace");
}
