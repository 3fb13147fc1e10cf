/**
 * The parts of the state that the URL contains. Each part of the page adds its
 * own.
 *
 * @module
 */

import type { UrlState } from "../model/url_state.ts";

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
