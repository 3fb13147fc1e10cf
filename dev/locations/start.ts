/**
 * Records the lines of user code behind spans.
 *
 * @module
 */

import { findCallSites } from "../../core/runtime/environment.ts";
import { hostOf, type SpanLocator } from "../../trace/record/host.ts";
import { routesOf } from "../../trace/http/access.ts";
import type { Tracer } from "../../trace/types.ts";
import { CallStack, userLine } from "./call_stack.ts";
import { openRoute } from "./open_route.ts";
import { WaitingStacks } from "./waiting_stacks.ts";

/** Spans that the kit opens for each request, whatever the user's code does. */
const OWN_SPANS: readonly string[] = ["route.match", "auth:session"];

const waiting = new WaitingStacks();

const locator: SpanLocator = {
  capture(name, attributes, caller) {
    const isKnown = attributes?.["code.file.path"] !== undefined;
    return isKnown || OWN_SPANS.includes(name)
      ? undefined
      : waiting.capture(caller);
  },
  locate: (captured) => (captured as CallStack).line(),
  locateError: userLine,
};

/**
 * Makes the spans of a tracer know their line of user code, and procedures the
 * line that defines them. The viewer can open these lines in the editor.
 */
export function startLocations(tracer: Tracer): { close(): void } {
  const host = hostOf.get(tracer);
  if (host !== undefined) host.locator = locator;
  routesOf(tracer).set("/open", openRoute);
  findCallSites(() => new CallStack().line());
  return {
    close() {
      if (host !== undefined) host.locator = undefined;
      findCallSites(undefined);
      waiting.close();
    },
  };
}
