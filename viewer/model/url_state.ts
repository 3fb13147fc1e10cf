/**
 * The state in the fragment of the address: the open trace, its selected span and
 * its view.
 *
 * @module
 */

/** How an open trace is drawn. */
export type TraceView = "waterfall" | "flame";

/** The part of the page's state that a link carries. */
export interface UrlState {
  /** A trace id or the id of its root span; empty for the list. */
  readonly trace: string;
  /** The selected span's id; empty for none. */
  readonly span: string;
  /** How the trace is drawn. */
  readonly view: TraceView;
  /** The trace to compare with; empty for none. */
  readonly compare: string;
}

/** Reads the fragment of an address. Invalid parts are left out. */
export function parseUrlState(hash: string): UrlState {
  const params = new URLSearchParams(hash.replace(/^#/, ""));
  return {
    trace: params.get("trace") ?? "",
    span: params.get("span") ?? "",
    view: params.get("view") === "flame" ? "flame" : "waterfall",
    compare: params.get("compare") ?? "",
  };
}

/** Writes the fragment of an address; empty for the list. */
export function formatUrlState(state: UrlState): string {
  if (state.trace === "") return "";
  const params = new URLSearchParams({ trace: state.trace });
  if (state.span !== "") params.set("span", state.span);
  if (state.view !== "waterfall") params.set("view", state.view);
  if (state.compare !== "") params.set("compare", state.compare);
  return `#${params}`;
}
