/**
 * The state in the URL's fragment: the open trace, the list and its filters.
 *
 * @module
 */

import type { Filters } from "./filters.ts";
import type { Order } from "./listing.ts";
import { LAYER_ORDER } from "./summary.ts";

/** The keys of the fragment, in the order of their appearance. */
const URL_KEYS = [
  "trace",
  "span",
  "view",
  "compare",
  "zoom",
  "q",
  "method",
  "status",
  "path",
  "layer",
  "min",
  "errors",
  "route",
  "sort",
] as const;

/** The texts of the fragment. An empty text is the default. */
export type UrlState = Readonly<Record<typeof URL_KEYS[number], string>>;

/** The views of an open trace. */
export const TRACE_VIEWS = ["waterfall", "flame", "table"] as const;

/** The view of an open trace. */
export type TraceView = typeof TRACE_VIEWS[number];

/** Reads the fragment of a URL. Unknown keys are left out. */
export function parseUrlState(hash: string): UrlState {
  const params = new URLSearchParams(hash.replace(/^#/, ""));
  return Object.fromEntries(
    URL_KEYS.map((key) => [key, params.get(key) ?? ""]),
  ) as UrlState;
}

/** Writes the fragment of a URL. Empty if everything is the default. */
export function formatUrlState(state: Partial<UrlState>): string {
  const params = new URLSearchParams();
  for (const key of URL_KEYS) {
    if (state[key]) params.set(key, state[key]);
  }
  return params.size === 0 ? "" : `#${params}`;
}

/**
 * Whether a change of the state is a step for the browser's back button: not
 * typing, not sorting, and not a step to the next trace or span.
 */
export function isStep(before: UrlState, after: UrlState): boolean {
  return (["trace", "compare"] as const).some((key) =>
    (before[key] === "") !== (after[key] === "")
  ) || (["view", "method", "status", "layer", "errors", "route"] as const)
    .some((key) => before[key] !== after[key]);
}

/** Returns a text if it is one of the choices, or else the first choice. */
export function choiceOf<Choice extends string>(
  choices: readonly Choice[],
  text: string,
): Choice {
  return choices.find((choice) => choice === text) ?? choices[0]!;
}

/** Reads the filters. Invalid ones are left out. */
export function parseFilters(state: UrlState): Filters {
  const { method, status, path, layer, min, errors, route } = state;
  const minDuration = Number(min);
  return {
    method,
    statusClasses: [2, 3, 4, 5].filter((digit) =>
      status.split(",").includes(`${digit}xx`)
    ),
    path,
    layer: choiceOf(["", ...LAYER_ORDER], layer),
    minDuration: minDuration > 0 && minDuration < Infinity ? minDuration : 0,
    errorsOnly: errors === "1",
    route,
  };
}

/** Returns the texts of filters. */
export function formatFilters(filters: Filters): Partial<UrlState> {
  const { method, statusClasses, path, layer, minDuration, errorsOnly, route } =
    filters;
  return {
    method,
    status: statusClasses.toSorted().map((digit) => `${digit}xx`).join(),
    path,
    layer,
    min: minDuration > 0 ? String(minDuration) : "",
    errors: errorsOnly ? "1" : "",
    route,
  };
}

/**
 * Reads the order of a table: a column, with `-` before it for descending.
 * Other texts are the initial order.
 */
export function parseOrder<Column extends string>(
  text: string,
  columns: readonly Column[],
  initial: Order<Column>,
): Order<Column> {
  const descending = text.startsWith("-");
  const name = descending ? text.slice(1) : text;
  const column = columns.find((column) => column === name);
  return column === undefined ? initial : { column, descending };
}

/** Returns the text of an order; empty for the initial one. */
export function formatOrder<Column extends string>(
  { column, descending }: Order<Column>,
  initial: Order<Column>,
): string {
  if (column === initial.column && descending === initial.descending) return "";
  return descending ? `-${column}` : column;
}
