import type { Attributes, SpanData, Tracer } from "../types.ts";

/** A function or a class. */
type Callable =
  | (abstract new (...args: never) => unknown)
  | ((...args: never) => unknown);

/** Finds the lines of user code behind spans. The dev command sets one. */
export interface SpanLocator {
  /**
   * Captures the call stack, if a line of it can be the cause of the span.
   *
   * @param caller A running function. The stack ends at its call.
   */
  capture(
    name: string,
    attributes: Attributes | undefined,
    caller: Callable,
  ): object | undefined;
  /** Returns the attributes with the file and line of a captured stack. */
  locate(captured: object): SpanData["attributes"] | undefined;
  /** Returns the same for the recorded stack of an error. */
  locateError(stack: string): SpanData["attributes"] | undefined;
}

/** The host of each tracer. Not a member, because it isn't public. */
export const hostOf = new WeakMap<
  Tracer,
  { locator: SpanLocator | undefined }
>();
