/**
 * Records what an app logs while it handles a request, for the dev command.
 *
 * ```
 * console.log(…)
 *   ├─ outside of a request ─► the console
 *   └─ while a span is active
 *        ├─ event `log` of the span     redacted and cut: API, viewer, exports
 *        └─ HeldLogs ─► terminal        below the span's line, or after a second
 * ```
 *
 * @module
 */

import { redactMessage } from "../../core/redact/redact.ts";
import { nodeUtil } from "../../core/runtime/environment.ts";
import { getActiveSpan } from "../../trace/record/context.ts";
import { SpanImpl } from "../../trace/record/span.ts";
import { standardOutput, wantsColor } from "../../trace/report/terminal.ts";
import type { Span, TraceData, Tracer } from "../../trace/types.ts";
import { atExit } from "../at_exit.ts";
import {
  createLogFormat,
  type LogMethod,
  SEVERITIES,
  type Severity,
} from "./console_text.ts";
import { HeldLogs } from "./held_logs.ts";
import { safeCall } from "./safe_arguments.ts";

/** Maximum characters of a recorded text, not counting the note about the rest. */
const MAX_BODY = 4_000;

/** The severity that the default format of `@std/log` starts with. */
const LEVEL = /^(?:DEBUG|INFO|WARN|ERROR|CRITICAL)(?= )/;
const LEVEL_SEVERITIES: Readonly<Record<string, Severity>> = {
  DEBUG: "debug",
  WARN: "warn",
  ERROR: "error",
  CRITICAL: "error",
};

type Method = (...args: unknown[]) => void;

/** The last error that `console.error()` got, by the root span of its request. */
export const loggedErrors = new WeakMap<Span, Error>();

/**
 * Records the logs of requests as events of their active spans. All other calls
 * of the console stay as they are.
 */
export function captureConsole(tracer: Tracer) {
  const format = createLogFormat(wantsColor(standardOutput()));
  const originals = new Map<string, Method>();
  const held = new HeldLogs(({ isError, text }) =>
    originals.get(isError ? "error" : "log")!.call(console, text)
  );
  const groups = new WeakMap<object, number>();
  let isRecorded = false;
  let isBusy = false;
  let isClosed = false;

  const unsubscribe = tracer.subscribe((event) => {
    if (event.type === "span:event") isRecorded = true;
    if (event.type === "trace:discard") held.drop(event.rootSpanId);
  }, ["span:event", "trace:discard"]);

  /** Records a log, and returns whether it will be printed later. */
  function capture(method: LogMethod, args: readonly unknown[]): boolean {
    const span = recordedSpan();
    if (span === undefined || !span.isOpen) return false;
    const { trace, id: spanId } = span;
    const depth = groups.get(trace) ?? 0;
    const indent = "  ".repeat(depth);
    const textOf = (method: LogMethod, args: readonly unknown[]) =>
      indent + format(method, args).replaceAll("\n", `\n${indent}`);
    const text = textOf(method, args);
    if (method.startsWith("group")) groups.set(trace, depth + 1);
    const safe = safeCall(format, method, args);
    const plain = nodeUtil().stripVTControlCharacters(
      safe[1] === args ? text : textOf(...safe),
    );
    const severity = severityOf(method, plain);
    // Unlike `instanceof`, it takes any proxy.
    const error = args.find(nodeUtil().types.isNativeError);
    if (error && method === "error") loggedErrors.set(trace.root, error);
    isRecorded = false;
    span.event("log", {
      "log.severity": severity,
      "log.body": redactMessage(plain, MAX_BODY),
    });
    const rootSpanId = trace.root.id;
    const log = { spanId, severity, text, isError: STDERR.test(method) };
    if (isRecorded) return held.add(rootSpanId, log);
    // The span has no room, or belongs to another tracer.
    held.release(rootSpanId);
    return false;
  }

  function endGroup(): boolean {
    const trace = recordedSpan()?.trace;
    const depth = trace && groups.get(trace) || 0;
    if (depth > 0) groups.set(trace!, depth - 1);
    return depth > 0;
  }

  function patch(name: string, captures: (args: unknown[]) => boolean): void {
    const target = console as unknown as Record<string, Method | undefined>;
    const original = target[name];
    if (original === undefined) return;
    originals.set(name, original);
    const replacement: Method = function (this: unknown, ...args) {
      // A function of the app that the formatter calls may log, too.
      if (isClosed || isBusy) return original.apply(this, args);
      isBusy = true;
      try {
        if (captures(args)) return;
      } finally {
        isBusy = false;
      }
      original.apply(this, args);
    };
    Object.defineProperty(replacement, "name", { value: name });
    target[name] = replacement;
    restore.push(() => {
      // Another library may have replaced it since.
      if (target[name] === replacement) target[name] = original;
    });
  }

  const restore: (() => void)[] = [];
  for (const name of Object.keys(SEVERITIES) as LogMethod[]) {
    patch(name, (args) => {
      const isSilent = name === "assert" && Boolean(args[0]);
      return isSilent || capture(name, args);
    });
  }
  patch("groupEnd", endGroup);
  const removeExit = atExit(() => held.releaseAll());

  return {
    /** Returns the logs of an ended request that no one printed, and forgets them. */
    take: ({ rootSpanId }: TraceData) => held.take(rootSpanId),
    /** Prints the logs that wait, and restores the console. */
    close(): void {
      isClosed = true;
      unsubscribe();
      removeExit();
      for (const fn of restore) fn();
      held.releaseAll();
    },
  };
}

/** The methods that write to standard error. */
const STDERR = /^(?:warn|error|assert|trace)$/;

/** Returns the active span, or the request's if that isn't recorded. */
function recordedSpan(): SpanImpl | undefined {
  const span = getActiveSpan();
  if (span === undefined || span instanceof SpanImpl) return span;
  return span.root instanceof SpanImpl ? span.root : undefined;
}

function severityOf(method: LogMethod, text: string): Severity {
  const [level = ""] = method === "log" ? LEVEL.exec(text) ?? [] : [];
  return LEVEL_SEVERITIES[level] ?? SEVERITIES[method];
}
