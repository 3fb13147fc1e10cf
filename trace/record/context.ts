import { kindOf } from "../../core/check/rules.ts";
import { runSpan } from "../../core/observe.ts";
import {
  currentScope,
  enterScope,
  RequestScope,
  WatchScope,
} from "../../core/request_scope.ts";
import { noopSpan, noopTracer } from "../noop_tracer.ts";
import type { Attributes, Layer, Span, Tracer } from "../types.ts";
import { checkTracer } from "./tracer_options.ts";

let tracer: Tracer = noopTracer;

/**
 * Sets the tracer that {@linkcode getTracer} returns.
 *
 * @throws {TypeError} If it isn't a tracer.
 *
 * @example
 * ```ts
 * import { createTracer, getTracer, setTracer } from "@quartet/kit/trace";
 *
 * const tracer = createTracer();
 * setTracer(tracer);
 * console.assert(getTracer() === tracer);
 * ```
 */
export function setTracer(value: Tracer): void {
  checkTracer(value, "set tracer", "startTrace", "getTraces");
  tracer = value;
}

/**
 * Returns the tracer that was set, or the one that does nothing. The dev command
 * sets its own.
 */
export function getTracer(): Tracer {
  return tracer;
}

/** The scope of a call of `setActiveSpan`. */
class EnteredScope extends RequestScope {
  /** Weak, because a job that restarts itself would keep one scope per run. */
  readonly #inside: WeakRef<RequestScope> | undefined;

  constructor(span: Span | undefined, inside: RequestScope | undefined) {
    super(undefined, span, withoutSpans(inside));
    this.#inside = inside && new WeakRef(inside);
  }

  override get inside(): RequestScope | undefined {
    return this.#inside?.deref() ?? this.outer;
  }
}

/** Hides the span of the outer scope, and nothing else. */
class SpanlessScope extends EnteredScope {
  override get span(): undefined {
    return undefined;
  }

  override get isOver(): boolean {
    return false;
  }
}

/**
 * Makes `span` the active one for the rest of the running function and
 * everything it starts. `undefined` makes none active. The caller of that
 * function sees it too, until its next `await`. Prefer `tracer.withSpan`, which
 * restores the former span.
 */
export function setActiveSpan(span: Span | undefined): void {
  const current = currentScope();
  // A call replaces the one before, and doesn't nest in it.
  const inside = current instanceof EnteredScope ? current.inside : current;
  const Scope = span === undefined ? SpanlessScope : EnteredScope;
  enterScope(new Scope(span, inside));
}

/** Returns the nearest scope that holds more than a span. */
function withoutSpans(
  scope: RequestScope | undefined,
): RequestScope | undefined {
  while (
    scope !== undefined && scope.ownContext === undefined &&
    scope.tracedRequest === undefined && !(scope instanceof WatchScope)
  ) scope = scope.outer;
  return scope;
}

/** Returns the active span of the calling code. */
export function getActiveSpan(): Span | undefined {
  // Only this module adds spans to a scope, so they are full spans.
  return currentScope()?.span as Span | undefined;
}

/**
 * Runs `fn` in a child of the active span. If no span is active, `fn` gets a
 * span that records nothing.
 */
export function inSpan<T>(
  name: string,
  layer: Layer,
  fn: (span: Span) => T,
  attributes?: Attributes,
): T {
  checkWork(name, fn);
  const parent = getActiveSpan();
  if (parent === undefined) return fn(noopSpan);
  return runSpan(parent.child(name, layer, attributes), fn);
}

/**
 * Checks the function of a span, which untyped code passes in place of the
 * layer.
 *
 * @throws {TypeError} If it isn't a function.
 */
export function checkWork(name: string, fn: unknown): void {
  if (typeof fn === "function") return;
  throw new TypeError(
    `Cannot trace ${name}: its work must be a function, received ${kindOf(fn)}`,
  );
}
