/**
 * Findings: what the dev command says about the requests that it has seen.
 *
 * @module
 */

/** The name of the rule that found something. */
export type FindingRule =
  /** The same statement ran several times in one trace. */
  | "repeated-query"
  /** The same procedure or cache key was asked for several times. */
  | "repeated-call"
  /** A statement took most of the time of a slow request. */
  | "slow-query"
  /** A query returned many rows. */
  | "large-result"
  /** A request took longer than the route's history says. */
  | "slow-request"
  /** A cached function never finds its value again. */
  | "idle-cache"
  /** A span threw. */
  | "exception"
  /** A promise was rejected, and nothing handled it. */
  | "unhandled-rejection"
  /** A route does more, or takes longer, than before a file was saved. */
  | "slower-route";

/** One cause, with its evidence. */
export interface Finding {
  /** The rule. */
  readonly rule: FindingRule;
  /** The cause in one line, such as `12 × SELECT … WHERE id = ?`. */
  readonly message: string;
  /** The line of the user's code, such as `posts.ts:41`. Absent if unknown. */
  readonly location?: string;
  /** The method and route, such as `GET /posts/:id`. */
  readonly route?: string;
  /** The trace with the evidence. */
  readonly traceId: string;
  /** The spans that are the evidence. The first one leads to the cause. */
  readonly spanIds: readonly string[];
  /** The last time it was seen, in epoch milliseconds. */
  readonly time: number;
  /** The number of traces with it. */
  readonly count: number;
}
