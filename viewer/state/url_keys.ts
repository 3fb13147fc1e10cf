/**
 * The parts of the state that the URL contains. Each part of the page adds its
 * own.
 *
 * @module
 */

import type { SpanReference } from "../../trace/export/semantics.ts";
import { formatUrlState, type UrlState } from "../model/url_state.ts";

/** A part of the page's state in the URL. */
interface UrlPart {
  /** Returns the texts for the URL. It reads signals, so that changes show. */
  readonly read: () => Partial<UrlState>;
  /** Applies the texts of a URL. Invalid ones are the default. */
  readonly apply: (state: UrlState) => void;
}

const parts: UrlPart[] = [];

/** Adds a part of the state to the URL. Called while the page loads. */
export function keepInUrl(part: UrlPart): void {
  parts.push(part);
}

/** Returns the texts of all parts. */
export function readParts(): Partial<UrlState> {
  return Object.assign({}, ...parts.map(({ read }) => read()));
}

/** Applies the texts of a URL to all parts. */
export function applyParts(state: UrlState): void {
  for (const { apply } of parts) apply(state);
}

/** Returns the fragment that opens a span. The list stays as it is. */
export function hashOfSpan({ traceId, spanId }: SpanReference): string {
  const opened = { trace: traceId, span: spanId };
  const reset = { view: "", compare: "", zoom: "" };
  return formatUrlState({ ...readParts(), ...reset, ...opened });
}
