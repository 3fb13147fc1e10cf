/**
 * Examines one regular expression a message, beside others.
 *
 * @module
 */

import { alternatives } from "./alternatives.ts";

/** What is asked. */
export interface Question {
  /** The pattern's source. */
  readonly source: string;
  /** Its flags. */
  readonly flags: string;
}

/** What the checker says. */
export interface Verdict {
  /** `unknown` if it took too long. */
  readonly status: "safe" | "vulnerable" | "unknown";
  /** How the cost grows, such as `2nd degree polynomial`. */
  readonly complexity?: string;
  /** An expression for a text that takes long. */
  readonly attack?: string;
}

/** The part of the package `recheck` that is used. */
interface Recheck {
  readonly default: {
    checkSync(source: string, flags: string, limits: unknown): {
      readonly status: Verdict["status"];
      readonly complexity?: { readonly summary: string };
      readonly attack?: { readonly pattern: string };
    };
  };
}

// Named at run time: the project's `deno.json` doesn't have it, or everything
// that is run would fetch it. The build without a native part has no types.
const name = "recheck/lib/browser.js";
// A message that came while a module waits would be lost.
const loaded: Promise<Recheck> = import(name);

/** A busy machine is no reason to find fault: steps are counted, not time. */
const LIMITS = {
  timeout: 120_000,
  attackTimeout: null,
  incubationTimeout: null,
};

/**
 * A long alternation takes the checker too long. Its cost is the sum of what
 * the alternatives cost, so each is examined by itself.
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

// The global scope of a worker, which the types of a page don't have.
const scope = globalThis as unknown as {
  onmessage(event: MessageEvent<Question>): Promise<void>;
  postMessage(verdict: Verdict): void;
};

scope.onmessage = async ({ data }) => scope.postMessage(await examine(data));
