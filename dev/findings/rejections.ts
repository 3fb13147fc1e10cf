/**
 * Finds promises that reject, and exceptions of timers and listeners, that nothing
 * handles. The process does with them what it would do anyway.
 *
 * @module
 */

import process from "node:process";
import { printable } from "../../core/redact/printable.ts";
import { currentScope } from "../../core/request_scope.ts";
import { isLongMessageError } from "../../core/socket/upgrade.ts";
import { routeKeyOf } from "../../trace/export/route_key.ts";
import { getActiveSpan } from "../../trace/record/context.ts";
import { describeError } from "../../trace/record/untyped.ts";
import type { SpanData, Tracer } from "../../trace/types.ts";
import { userLine } from "../locations/call_stack.ts";
import { shortLocation } from "../locations/short_location.ts";
import type { Findings } from "./findings.ts";
import { messageText } from "./texts.ts";

/** A span and its trace. */
type SpanIds = Pick<SpanData, "traceId" | "id">;

/**
 * Adds a finding for each unhandled rejection and exception.
 *
 * @returns A function that ends it.
 */
export function findRejections(
  tracer: Tracer,
  findings: Pick<Findings, "add">,
): () => void {
  /** The requests by their context. Their code may fail after they have ended. */
  const requests = new WeakMap<object, SpanIds>();
  const unsubscribe = tracer.subscribe((event) => {
    const context = currentScope()?.ownContext;
    if (event.type !== "trace:start" || context === undefined) return;
    const { traceId, id } = event.span;
    requests.set(context, { traceId, id });
  }, ["trace:start"]);

  /** Returns the request that the calling code was started by. */
  function request(): SpanIds | undefined {
    for (let scope = currentScope(); scope; scope = scope.outer) {
      const known = scope.ownContext && requests.get(scope.ownContext);
      if (known !== undefined) return known;
    }
    return undefined;
  }

  function report(reason: unknown, isRejection: boolean): void {
    const { type, message, stack = "" } = describeError(reason);
    const location = shortLocation({ attributes: userLine(stack) ?? {} });
    const active = getActiveSpan();
    const { traceId = "", id = "" } = active?.root ?? request() ?? {};
    const span = tracer.getTrace(traceId)?.spans.get(id);
    const route = span && routeKeyOf(span);
    findings.add({
      rule: isRejection ? "unhandled-rejection" : "exception",
      message: messageText(message === "" ? type : `${type}: ${message}`),
      ...(location !== undefined && { location }),
      ...(route !== undefined && { route: printable(route) }),
      traceId,
      spanIds: [active?.id ?? id].filter((id) => id !== ""),
      time: Date.now(),
      count: 1,
    });
  }

  const stop = listen(report);
  return () => {
    stop();
    unsubscribe();
  };
}

function listen(
  report: (error: unknown, isRejection: boolean) => void,
): () => void {
  if ("Deno" in globalThis) {
    const handle = (event: PromiseRejectionEvent | ErrorEvent) => {
      const isRejection = "reason" in event;
      const error = isRejection ? event.reason : event.error;
      // The kit handles it.
      if (!isLongMessageError(error)) report(error, isRejection);
    };
    const types = ["unhandledrejection", "error"] as const;
    for (const type of types) addEventListener(type, handle);
    return () => types.forEach((type) => removeEventListener(type, handle));
  }
  // A listener of `unhandledRejection` would keep the process alive.
  const handle = (error: unknown, origin: string) =>
    report(error, origin === "unhandledRejection");
  process.on("uncaughtExceptionMonitor", handle);
  return () => void process.off("uncaughtExceptionMonitor", handle);
}
