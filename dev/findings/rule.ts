/**
 * The shape of a rule: a pure function of a unit and the history.
 *
 * @module
 */

import type { FindingRule } from "../../trace/finding.ts";
import type { SpanData } from "../../trace/types.ts";
import type { History } from "./history.ts";
import type { Unit } from "./units.ts";

/** A cause in one trace. */
export interface Evidence {
  /** The rule. */
  readonly rule: FindingRule;
  /** Identifies the cause. It is unique for the rule and route. */
  readonly shape: string;
  /** The cause. It may have secrets and control characters. */
  readonly message: string;
  /** The method and route, or the name of a job. */
  readonly route: string;
  /** The spans that show it. The first one leads to the cause. */
  readonly spans: readonly SpanData[];
}

/**
 * Looks for a cause in a request or job. It must not report anything that a
 * developer would leave as it is.
 */
export type Rule = (unit: Unit, history: History) => Evidence[];
