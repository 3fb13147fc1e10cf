/**
 * Names the work of a span, so that repeated work has equal names.
 *
 * @module
 */

import type { SpanData } from "../types.ts";
import { attributeText, statementOf } from "./attributes.ts";
import { statementShape } from "./statement_shape.ts";

/**
 * Returns the kind and name of a span's work: `statement:SELECT …`, `cache:key`
 * or `procedure:posts.list`. `undefined` for other work, and for the handler of
 * a procedure below its call.
 */
export function workKey(
  span: SpanData,
  parent: SpanData | undefined,
): string | undefined {
  const statement = statementOf(span);
  if (statement !== undefined) return `statement:${statementShape(statement)}`;
  if (span.name.startsWith("cache.")) {
    return `cache:${attributeText(span, "app.cache.key") ?? span.name}`;
  }
  const procedure = attributeText(span, "rpc.method");
  // A call and its handler are one call, also in two processes.
  const isSame = parent !== undefined &&
    procedure === attributeText(parent, "rpc.method");
  return procedure === undefined || isSame
    ? undefined
    : `procedure:${procedure}`;
}

/** Whether a span is the call or the handler of a procedure. */
export function isProcedure(span: SpanData): boolean {
  return attributeText(span, "rpc.method") !== undefined;
}
