import { type Rule, withMethods } from "../../core/check/rules.ts";
import type { Tracer } from "../types.ts";

/** Returns the rule for a tracer, with the methods that its user calls. */
export function aTracer(...methods: readonly (keyof Tracer)[]): Rule {
  return withMethods("the result of createTracer()", ...methods);
}
