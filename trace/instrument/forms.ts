import { getActiveSpan } from "../record/context.ts";
import type { Span } from "../types.ts";
import { inSpan } from "./in_span.ts";

/**
 * Traces the handling of a submitted form, as a span `form:<name>`.
 *
 * @param name Names the form.
 * @param submit Handles it.
 * @returns What `submit` returns.
 *
 * @example
 * ```ts
 * import { recordFormValidation, traceFormSubmit } from "@quartet/kit/trace";
 *
 * const saved = traceFormSubmit("sign-up", () => {
 *   recordFormValidation({ errors: { email: "is required" } });
 *   return false;
 * });
 * console.assert(saved === false);
 * ```
 */
export function traceFormSubmit<T>(
  name: string,
  submit: (span: Span) => T,
): T {
  return inSpan(`form:${name}`, "forms", submit);
}

/** What {@linkcode recordFormValidation} notes. */
export interface FormValidation {
  /** What is wrong, by field. Empty or absent if nothing is. */
  readonly errors?: Readonly<Record<string, string>>;
}

/**
 * Notes on the active span, as an event `form.validation`, how the check of a
 * form went. The names of the failing fields are kept, never a value.
 */
export function recordFormValidation({ errors = {} }: FormValidation): void {
  const fields = Object.keys(errors);
  getActiveSpan()?.event("form.validation", {
    "app.form.valid": fields.length === 0,
    "app.form.invalid_fields": fields.join(", ") || undefined,
  });
}
