/**
 * Keeps the page's state in the URL, for links and the browser's back button.
 *
 * @module
 */

import { batch, computed, effect, signal } from "@preact/signals";
import { afterPaint } from "../dom.ts";
import { cutText } from "../model/text.ts";
import { createTokenBucket } from "../model/token_bucket.ts";
import { formatUrlState, parseUrlState } from "../model/url_state.ts";
import { connection, fetchTrace } from "./live.ts";
import * as opened from "./opened.ts";
import * as selection from "./selection.ts";
import * as traces from "./traces.ts";

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
  const state = parseUrlState(knownHash);
  if (state.trace === "") return selection.closeTrace();
  batch(() => {
    selection.openTrace(keyOf(state.trace));
    selection.view.value = state.view;
    opened.wantedCompare.value = keyOf(state.compare);
    wantedSpan.value = state.span;
  });
}

/** Returns the trace id, or the key if several traces share the id. */
function linkId(key: string): string {
  const id = traces.findEntry(key)?.id;
  return id !== undefined && keyOf(id) === key ? id : key;
}

function keyOf(id: string): string {
  return traces.findEntry(id)?.key ?? id;
}

function currentHash(): string {
  const row = selection.selectedRow.value;
  return formatUrlState({
    trace: linkId(opened.wantedTrace.value),
    span: wantedSpan.value || (row.startsWith("group:") ? "" : row),
    view: selection.view.value,
    compare: linkId(opened.wantedCompare.value),
  });
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
    // The back button undoes opening and closing, but not steps.
    if (hash === "" || knownHash === "") history.pushState(null, "", address);
    else history.replaceState(null, "", address);
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
  if (node === undefined && !opened.comparison.value?.b.byId.has(id)) return;
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
