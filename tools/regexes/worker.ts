/**
 * Checks one regular expression per message, in parallel with other workers.
 *
 * @module
 */

import { alternatives } from "./alternatives.ts";

/** An expression to check. */
export interface Question {
  /** The pattern's source. */
  readonly source: string;
  /** Its flags. */
  readonly flags: string;
}

/** The checker's result. */
export interface Verdict {
  /** The result; `unknown` if the check took too long. */
  readonly status: "safe" | "vulnerable" | "unknown";
  /** How the cost grows, such as `2nd degree polynomial`. */
  readonly complexity?: string;
  /** An expression that builds a slow text. */
  readonly attack?: string;
}

/** The used part of the package `recheck`. */
interface Recheck {
  readonly default: {
    checkSync(source: string, flags: string, limits: unknown): {
      readonly status: Verdict["status"];
      readonly complexity?: { readonly summary: string };
      readonly attack?: { readonly pattern: string };
    };
  };
}

// Imported by a variable: if the project's `deno.json` listed it, each command
// would fetch it. The build without a native part has no types.
const name = "recheck/lib/browser.js";
// Not awaited here: a message that arrives meanwhile would be lost.
const loaded: Promise<Recheck> = import(name);

/** Limits steps rather than time, so that a busy machine doesn't fail. */
const LIMITS = {
  timeout: 120_000,
  attackTimeout: null,
  incubationTimeout: null,
};

/**
 * Checks each alternative by itself, because long alternations take the checker
 * too long. The cost of a pattern is the sum of its alternatives' costs.
 */
async function examine({ source, flags }: Question): Promise<Verdict> {
  const { default: recheck } = await loaded;
  for (const alternative of alternatives(source)) {
    const { status, complexity, attack } = recheck.checkSync(
      alternative,
      flags,
      LIMITS,
    );
    if (status === "safe") continue;
    return {
      status,
      complexity: complexity?.summary ?? "",
      attack: attack?.pattern ?? "",
    };
  }
  return { status: "safe" };
}

// The types of a page don't have the global scope of a worker.
const scope = globalThis as unknown as {
  onmessage(event: MessageEvent<Question>): Promise<void>;
  postMessage(verdict: Verdict): void;
};

scope.onmessage = async ({ data }) => scope.postMessage(await examine(data));
