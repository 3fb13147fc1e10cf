/**
 * Keeps the address and the page's state the same, so that a link opens what
 * its sender saw and the browser's back button does what it says.
 *
 * @module
 */

import { batch, effect, signal } from "@preact/signals";
import { afterPaint } from "../dom.ts";
import { cutText } from "../model/text.ts";
import { createTokenBucket } from "../model/token_bucket.ts";
import { formatUrlState, parseUrlState } from "../model/url_state.ts";
import { connection, fetchTrace } from "./live.ts";
import {
  comparison,
  opened,
  tree,
  wantedCompare,
  wantedTrace,
} from "./opened.ts";
import {
  closeTrace,
  openTrace,
  revealSpan,
  selectedRow,
  view,
} from "./selection.ts";
import { dataState, entries, findEntry } from "./traces.ts";

/** A span that a link asks for and that isn't selected yet. */
const wantedSpan = signal("");

/** The address's hash as it was last read or written here. */
let knownHash = "";

/** Whether the wanted trace is neither here nor at the server. */
export const missing = signal(false);

/** The trace that the server was asked for; empty for none. */
let askedFor = "";

/** Applies the address, now and whenever it changes, and keeps it up to date. */
export function startUrlSync(): void {
  applyHash();
  addEventListener("hashchange", applyHash);
  // `blur`: the reader may have gone to the address bar to copy the link.
  for (const type of ["pagehide", "visibilitychange", "blur", "copy"]) {
    addEventListener(type, writeHash);
  }
  effect(follow);
  effect(selectWantedSpan);
  effect(fetchWanted);
}

function applyHash(): void {
  knownHash = location.hash;
  if (knownHash === currentHash()) return;
  const state = parseUrlState(knownHash);
  batch(() => {
    if (state.trace === "") {
      closeTrace();
      return;
    }
    openTrace(keyOf(state.trace));
    view.value = state.view;
    wantedCompare.value = keyOf(state.compare);
    wantedSpan.value = state.span;
  });
}

/** Links name a trace by its id where that is enough. */
function linkId(key: string): string {
  const id = findEntry(key)?.id;
  return id !== undefined && keyOf(id) === key ? id : key;
}

function keyOf(id: string): string {
  return findEntry(id)?.key ?? id;
}

function currentHash(): string {
  const row = selectedRow.value;
  return formatUrlState({
    trace: linkId(wantedTrace.value),
    span: wantedSpan.value || (row.startsWith("group:") ? "" : row),
    view: view.value,
    compare: linkId(wantedCompare.value),
  });
}

/** Whether the title is about to be written. */
let titling = false;

/** The timer of a URL that waits for a token. */
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
function follow(): void {
  const hash = currentHash();
  opened.value;
  if (hash !== knownHash) writeSoon();
  if (titling) return;
  titling = true;
  // The title isn't needed before the next frame.
  afterPaint(writeTitle);
}

function writeSoon(): void {
  if (waiting !== undefined) return;
  const wait = takeToken(performance.now());
  if (wait > 0) waiting = setTimeout(writeHash, wait);
  else writeHash();
}

function writeTitle(): void {
  titling = false;
  const entry = opened.value?.entry;
  document.title = entry === undefined
    ? "Traces"
    : `${entry.method} ${cutText(entry.path, 80)} · Traces`.trim();
}

function writeHash(): void {
  clearTimeout(waiting);
  waiting = undefined;
  const hash = currentHash();
  // A link may have changed it, and the event is still to come.
  if (hash === knownHash || location.hash !== knownHash) return;
  const address = `${location.pathname}${location.search}${hash}`;
  try {
    // Opening and closing can be undone with the back button; steps can't.
    if (hash === "" || knownHash === "") history.pushState(null, "", address);
    else history.replaceState(null, "", address);
  } catch {
    // A sandboxed page can't change its address. It works without.
  }
  // Not `hash`: the browser may have ignored the change.
  knownHash = location.hash;
}

function selectWantedSpan(): void {
  const id = wantedSpan.value;
  if (id === "") return;
  const node = tree.value?.byId.get(id);
  if (node === undefined && !comparison.value?.b.byId.has(id)) return;
  batch(() => {
    wantedSpan.value = "";
    if (node === undefined) selectedRow.value = id;
    else revealSpan(node.index);
  });
}

/** Asks the server for a linked trace that hasn't come by itself. */
function fetchWanted(): void {
  const id = wantedTrace.value;
  entries.value;
  const entry = findEntry(id);
  if (id === "" || entry !== undefined) {
    askedFor = "";
    missing.value = false;
    // A link by trace id: from here on the trace goes by its key.
    if (entry !== undefined) wantedTrace.value = entry.key;
  } else if (dataState.value.kind === "ready" && askedFor !== id) {
    askedFor = id;
    missing.value = false;
    lookFor(id);
  }
}

async function lookFor(id: string): Promise<void> {
  if (connection.peek().kind !== "file") await fetchTrace(id);
  if (askedFor === id) missing.value = true;
}
