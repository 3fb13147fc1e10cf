/**
 * Examines one regular expression a message, beside others.
 *
 * @module
 */

import recheck from "recheck/lib/browser.js";
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

/** Milliseconds for one run of the checker. */
const TIMEOUT = 10_000;

/**
 * A long alternation takes the checker too long. Its cost is the sum of what
 * the alternatives cost, so each can be examined by itself.
 */
function examine(question: Question): Verdict {
  const parts = alternatives(question.source);
  const whole = check(question, parts.length > 1 ? TIMEOUT / 5 : TIMEOUT);
  if (whole.status !== "unknown" || parts.length === 1) return whole;
  for (const source of parts) {
    const verdict = check({ ...question, source }, TIMEOUT);
    if (verdict.status !== "safe") return verdict;
  }
  return { status: "safe" };
}

function check({ source, flags }: Question, timeout: number): Verdict {
  const result = recheck.checkSync(source, flags, { timeout });
  if (result.status !== "vulnerable") return { status: result.status };
  return {
    status: "vulnerable",
    complexity: result.complexity.summary,
    attack: result.attack.pattern,
  };
}

// The global scope of a worker, which the types of a page don't have.
const scope = globalThis as unknown as {
  onmessage(event: MessageEvent<Question>): void;
  postMessage(verdict: Verdict): void;
};

scope.onmessage = ({ data }) => scope.postMessage(examine(data));
