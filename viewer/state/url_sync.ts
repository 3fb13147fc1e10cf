/**
 * Keeps the page's state in the URL, for links and the browser's back button.
 *
 * @module
 */

import { batch, computed, effect, signal } from "@preact/signals";
import { afterPaint } from "../dom.ts";
import { cutText } from "../model/text.ts";
import { formatZoom, parseZoom } from "../model/time_range.ts";
import { createTokenBucket } from "../model/token_bucket.ts";
import {
  choiceOf,
  formatUrlState,
  isStep,
  parseUrlState,
  TRACE_VIEWS,
} from "../model/url_state.ts";
import { LIST_TABS, listTab } from "./listing.ts";
import { connection, fetchTrace } from "./live.ts";
import * as opened from "./opened.ts";
import * as selection from "./selection.ts";
import * as traces from "./traces.ts";
import { applyParts, keepInUrl, readParts } from "./url_keys.ts";
import { comparison } from "./rows.ts";
import { zoom } from "./zoom.ts";

/** The span of a link that isn't selected yet. */
const wantedSpan = signal("");

/** The URL's hash as last read or written here. */
let knownHash = "";

/** Whether neither the page nor the server has the wanted trace. */
export const missing = signal(false);

/** The trace that was requested from the server. Empty for none. */
let askedFor = "";

/** Applies the URL, now and at each change, and keeps it up to date. */
export function startUrlSync(): void {
  applyHash();
  addEventListener("hashchange", applyHash);
  // On `blur`, because the user may copy the URL from the address bar.
  for (const type of ["pagehide", "visibilitychange", "blur", "copy"]) {
    addEventListener(type, writeHash);
  }
  effect(writeChanges);
  // The title isn't needed before the next frame.
  effect(() => {
    title.value;
    afterPaint(() => document.title = title.value);
  });
  effect(selectWantedSpan);
  effect(fetchWanted);
}

function applyHash(): void {
  knownHash = location.hash;
  if (knownHash === currentHash()) return;
  batch(() => applyParts(parseUrlState(knownHash)));
}

keepInUrl({
  read() {
    const trace = opened.wantedTrace.value;
    if (trace === "") {
      return { view: listTab.value === "traces" ? "" : listTab.value };
    }
    const row = selection.selectedRow.value;
    const view = selection.view.value;
    return {
      trace,
      span: wantedSpan.value || (row.startsWith("group:") ? "" : row),
      view: view === "waterfall" ? "" : view,
      zoom: formatZoom(zoom.value),
      compare: opened.wantedCompare.value,
    };
  },
  apply({ trace, span, view, compare, zoom: range }) {
    if (trace === "") {
      selection.closeTrace();
      listTab.value = choiceOf(LIST_TABS, view);
      return;
    }
    selection.openTrace(keyOf(trace));
    selection.view.value = choiceOf(TRACE_VIEWS, view);
    opened.wantedCompare.value = keyOf(compare);
    wantedSpan.value = span;
    zoom.value = parseZoom(range);
  },
});

function keyOf(id: string): string {
  return traces.findEntry(id)?.key ?? id;
}

function currentHash(): string {
  return formatUrlState(readParts());
}

/** The title of the page. */
const title = computed(() => {
  const entry = opened.openedTrace.value?.entry;
  return entry === undefined
    ? "Traces"
    : `${entry.method} ${cutText(entry.path, 80)} · Traces`.trim();
});

/** The timer for a delayed URL change. */
let waiting: ReturnType<typeof setTimeout> | undefined;

/**
 * Limits URL changes. Browsers ignore or refuse more than 100 in ten seconds,
 * and a held key makes 30 a second.
 */
const takeToken = createTokenBucket(50, 200);

/**
 * Writes the URL at once. A later write could come after a reload, which
 * uses the address from before `pagehide`.
 */
function writeChanges(): void {
  if (currentHash() === knownHash || waiting !== undefined) return;
  const wait = takeToken(performance.now());
  if (wait > 0) waiting = setTimeout(writeHash, wait);
  else writeHash();
}

function writeHash(): void {
  clearTimeout(waiting);
  waiting = undefined;
  const hash = currentHash();
  // A link may have changed it, before the event.
  if (hash === knownHash || location.hash !== knownHash) return;
  const address = `${location.pathname}${location.search}${hash}`;
  try {
    const method = isStep(parseUrlState(knownHash), parseUrlState(hash))
      ? "pushState"
      : "replaceState";
    history[method](null, "", address);
  } catch {
    // A sandboxed page can't change its URL. It works without.
  }
  // Not `hash`: the browser may have ignored the change.
  knownHash = location.hash;
}

function selectWantedSpan(): void {
  const id = wantedSpan.value;
  if (id === "") return;
  const node = opened.tree.value?.byId.get(id);
  if (node === undefined && !comparison.value?.b.byId.has(id)) return;
  batch(() => {
    wantedSpan.value = "";
    if (node === undefined) selection.selectedRow.value = id;
    else selection.revealSpan(node.index);
  });
}

/** Fetches a linked trace that the stream didn't send. */
function fetchWanted(): void {
  const id = opened.wantedTrace.value;
  const entry = traces.findEntry(id);
  if (id === "" || entry !== undefined) {
    askedFor = "";
    missing.value = false;
    // Links name the trace id. From here on, the key is used.
    if (entry !== undefined) opened.wantedTrace.value = entry.key;
  } else if (traces.dataState.value.kind === "ready" && askedFor !== id) {
    askedFor = id;
    missing.value = false;
    lookFor(id);
  }
}

async function lookFor(id: string): Promise<void> {
  if (connection.peek().kind !== "file") await fetchTrace(id);
  if (askedFor === id) missing.value = true;
}
