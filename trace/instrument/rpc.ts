import { getActiveSpan } from "../record/context.ts";
import type { Span } from "../types.ts";
import { inSpan } from "./in_span.ts";

/**
 * Traces the call of a procedure, as a span `rpc:<path>`.
 *
 * @param path The procedure's dotted path, such as `posts.list`.
 * @param type Its kind: `query`, `mutation` or `subscription`.
 * @param call Calls it.
 * @returns What `call` returns.
 *
 * @example
 * ```ts
 * import { traceRPCCall } from "@quartet/kit/trace";
 *
 * const sum = traceRPCCall("math.add", "query", () => 1 + 2);
 * console.assert(sum === 3);
 * ```
 */
export function traceRPCCall<T>(
  path: string,
  type: "query" | "mutation" | "subscription",
  call: (span: Span) => T,
): T {
  return inSpan(`rpc:${path}`, "rpc", call, {
    "rpc.system.name": "quartet",
    "rpc.method": path,
    "app.rpc.type": type,
  });
}

/** What {@linkcode recordRPCValidation} notes. */
export interface RPCValidation {
  /** Whether the input was accepted. */
  readonly valid: boolean;
  /** How long the check took, in milliseconds. */
  readonly duration?: number;
}

/**
 * Notes on the active span, as an event `rpc.validation`, how the check of a
 * procedure's input went.
 */
export function recordRPCValidation({ valid, duration }: RPCValidation): void {
  getActiveSpan()?.event("rpc.validation", {
    "app.rpc.valid": valid,
    "app.rpc.validation_duration": duration,
  });
}
