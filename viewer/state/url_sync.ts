/**
 * Keeps the address and the page's state the same, so that a link opens what
 * its sender saw and the browser's back button does what it says.
 *
 * @module
 */

import { batch, effect, signal } from "@preact/signals";
import { afterPaint } from "../hooks.ts";
import { cutText } from "../model/text.ts";
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

/** Whether address and title are about to be written. */
let writing = false;

/** Writes them once what they stand for is on the screen: it takes a while. */
function follow(): void {
  currentHash();
  opened.value;
  if (writing) return;
  writing = true;
  afterPaint(write);
}

function write(): void {
  writing = false;
  writeHash();
  const entry = opened.value?.entry;
  document.title = entry === undefined
    ? "Traces"
    : `${entry.method} ${cutText(entry.path, 80)} · Traces`.trim();
}

function writeHash(): void {
  const hash = currentHash();
  // Somebody may have changed it since, of which the event is still to come.
  if (hash === knownHash || location.hash !== knownHash) return;
  const address = `${location.pathname}${location.search}${hash}`;
  // Opening and closing can be undone with the back button; steps can't.
  if (hash === "" || knownHash === "") history.pushState(null, "", address);
  else history.replaceState(null, "", address);
  knownHash = hash;
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
