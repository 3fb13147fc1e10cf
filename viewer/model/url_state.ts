/**
 * The state in the URL's fragment: the open trace, its selected span and its
 * view.
 *
 * @module
 */

/** The view of an open trace. */
export type TraceView = "waterfall" | "flame";

/** The part of the page's state in a link. */
export type UrlState = Readonly<ReturnType<typeof parseUrlState>>;

/** Reads the fragment of a URL. Invalid parts are left out. */
export function parseUrlState(hash: string) {
  const params = new URLSearchParams(hash.replace(/^#/, ""));
  const view: TraceView = params.get("view") === "flame"
    ? "flame"
    : "waterfall";
  return {
    /** A trace id or the id of its root span; empty for the list. */
    trace: params.get("trace") ?? "",
    /** The selected span's id; empty for none. */
    span: params.get("span") ?? "",
    /** The view. */
    view,
    /** The trace to compare with; empty for none. */
    compare: params.get("compare") ?? "",
  };
}

/** Writes the fragment of a URL. Empty for the list. */
export function formatUrlState(state: UrlState): string {
  if (state.trace === "") return "";
  const params = new URLSearchParams({ trace: state.trace });
  if (state.span !== "") params.set("span", state.span);
  if (state.view !== "waterfall") params.set("view", state.view);
  if (state.compare !== "") params.set("compare", state.compare);
  return `#${params}`;
}
