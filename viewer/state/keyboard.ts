/**
 * The keyboard. One list of keys is both what they do and what `?` shows.
 *
 * @module
 */

import { type Signal, signal } from "@preact/signals";
import { panRange, zoomRange } from "../model/time_range.ts";
import { chooseFiles } from "./files.ts";
import {
  moveInList,
  moveInRows,
  openAtCursor,
  stepInto,
  stepOut,
} from "./moves.ts";
import {
  bounds,
  closeTrace,
  cursorKey,
  failures,
  grouped,
  listHidden,
  markOrCompare,
  matches,
  opened,
  range,
  rows,
  selectedIndex,
  selectedRow,
  showCritical,
  stepThrough,
  toggleAll,
  toggleRow,
  tree,
  view,
  wantedCompare,
  wantedTrace,
  zoom,
} from "./selection.ts";
import { copyCurl, copyJson } from "./copying.ts";
import { listTab, queryText } from "./listing.ts";
import { nextTheme } from "./theme.ts";
import { togglePaused } from "./traces.ts";

/** Whether the list of keys is shown. */
export const helpOpen = signal(false);

/** Where a key is of use. The list of keys is ordered by it. */
type Section = "Everywhere" | "List" | "Trace";

/** Keys (values of `KeyboardEvent.key`), what they do in words, and in code. */
type Binding = readonly [
  section: Section,
  keys: readonly string[],
  label: string,
  run: () => void,
];

/** All keys. */
export const BINDINGS: readonly Binding[] = [
  ["Everywhere", ["/"], "Search", focusSearch],
  ["Everywhere", ["j", "ArrowDown"], "Next row", () => move(1)],
  ["Everywhere", ["k", "ArrowUp"], "Row before", () => move(-1)],
  ["Everywhere", ["PageDown"], "Page down", () => move(15)],
  ["Everywhere", ["PageUp"], "Page up", () => move(-15)],
  ["Everywhere", ["g", "Home"], "First row", () => move(-Infinity)],
  ["Everywhere", ["G", "End"], "Last row", () => move(Infinity)],
  ["Everywhere", ["Enter"], "Open the trace, the details", enter],
  ["Everywhere", ["Escape"], "Back: details, trace, list", escape],
  ["Everywhere", ["t"], "Theme: system, light, dark", nextTheme],
  ["Everywhere", ["o"], "Open files", chooseFiles],
  ["Everywhere", ["?"], "This list", () => flip(helpOpen)],
  ["List", ["p"], "Pause or resume the live tail", togglePaused],
  ["List", ["r"], "Traces or routes", toggleTab],
  ["List", ["x"], "Mark, then compare with the mark", compare],
  ["Trace", ["l", "ArrowRight"], "Expand, or to the first child", stepInto],
  ["Trace", ["h", "ArrowLeft"], "Collapse, or to the parent", stepOut],
  ["Trace", [" "], "Expand or collapse", toggleSelected],
  ["Trace", ["a"], "Expand or collapse everything", toggleAll],
  ["Trace", ["e"], "Next error", () => stepThrough(failures.value, 1)],
  ["Trace", ["E"], "Error before", () => stepThrough(failures.value, -1)],
  ["Trace", ["n"], "Next match", () => stepThrough(matches.value, 1)],
  ["Trace", ["N"], "Match before", () => stepThrough(matches.value, -1)],
  ["Trace", ["+", "="], "Zoom in", () => zoomBy(0.6)],
  ["Trace", ["-"], "Zoom out", () => zoomBy(1 / 0.6)],
  ["Trace", [","], "Earlier", () => pan(-0.25)],
  ["Trace", ["."], "Later", () => pan(0.25)],
  ["Trace", ["z"], "Zoom to the selected span", zoomToSelected],
  ["Trace", ["0"], "The whole trace", () => setZoom(bounds.value)],
  ["Trace", ["f"], "Waterfall or flame graph", toggleView],
  ["Trace", ["c"], "Critical path", () => flip(showCritical)],
  ["Trace", ["u"], "Group repeated spans", () => flip(grouped)],
  ["Trace", ["\\"], "Hide or show the list", () => flip(listHidden)],
  ["Trace", ["y"], "Copy the span as JSON", copyJson],
  ["Trace", ["Y"], "Copy the request as curl", copyCurl],
];

function flip(option: Signal<boolean>): void {
  option.value = !option.value;
}

function toggleTab(): void {
  listTab.value = listTab.value === "routes" ? "traces" : "routes";
  focusDrawn("list");
}

function toggleView(): void {
  view.value = view.value === "flame" ? "waterfall" : "flame";
  focusDrawn("trace");
}

const byKey = new Map(
  BINDINGS.flatMap((binding) => binding[1].map((key) => [key, binding])),
);

/** Listens to the keyboard. */
export function startKeyboard(): void {
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target instanceof HTMLElement
      ? event.target
      : undefined;
    if (target?.closest("dialog, [role=menu]")) return;
    if (isTextField(target)) {
      if (event.key === "Escape") leaveField(target!);
      else if (event.key === "Enter" || event.key === "ArrowDown") {
        if (target instanceof HTMLInputElement) focusPlace("list");
      }
      return;
    }
    if (target instanceof HTMLSelectElement) return;
    // Buttons keep the keys that press them.
    const presses = event.key === "Enter" || event.key === " ";
    if (presses && target?.closest("button, a, summary")) return;
    if (target?.closest("[data-own-keys]") && event.key.startsWith("Arrow")) {
      return;
    }
    const binding = byKey.get(event.key);
    if (binding === undefined) return;
    const [section, , , run] = binding;
    if (section === "Trace" && tree.value === undefined) return;
    event.preventDefault();
    run();
  });
}

function isTextField(target: HTMLElement | undefined): boolean {
  return target instanceof HTMLInputElement && target.type !== "checkbox" ||
    target instanceof HTMLTextAreaElement;
}

function leaveField(field: HTMLElement): void {
  if (field.id === "search" && queryText.value !== "") queryText.value = "";
  else focusPlace(wantedTrace.value === "" ? "list" : "trace");
}

/** Puts the focus on a part of the page. */
export function focusPlace(place: "list" | "trace" | "details"): void {
  document.querySelector<HTMLElement>(`[data-place="${place}"]`)?.focus();
}

/** Puts the focus on a part of the page that is yet to be drawn. */
function focusDrawn(place: "list" | "trace"): void {
  setTimeout(() => focusPlace(place));
}

function focusedPlace(): string | undefined {
  return document.activeElement?.closest<HTMLElement>("[data-place]")?.dataset
    .place;
}

function focusSearch(): void {
  const search = document.querySelector<HTMLInputElement>("#search");
  search?.focus();
  search?.select();
}

/** Whether keys are meant for the open trace rather than for the list. */
function inTrace(): boolean {
  const place = focusedPlace();
  return opened.value !== undefined && place !== "list";
}

function move(by: number): void {
  if (focusedPlace() === "details" && Math.abs(by) !== 1) return;
  if (inTrace() && wantedCompare.value === "") {
    moveInRows(by);
    if (focusedPlace() === undefined) focusPlace("trace");
  } else {
    moveInList(by);
    if (focusedPlace() === undefined) focusPlace("list");
  }
}

function enter(): void {
  if (inTrace()) {
    if (selectedRow.value === "") moveInRows(1);
    focusPlace("details");
    return;
  }
  openAtCursor();
  focusDrawn(wantedTrace.value === "" ? "list" : "trace");
}

function escape(): void {
  if (focusedPlace() === "details") focusPlace("trace");
  else if (selectedRow.value !== "" && inTrace()) selectedRow.value = "";
  else if (wantedCompare.value !== "") wantedCompare.value = "";
  else if (zoom.value !== undefined && inTrace()) zoom.value = undefined;
  else if (wantedTrace.value !== "") {
    closeTrace();
    focusDrawn("list");
  }
}

function compare(): void {
  const key = inTrace() ? wantedTrace.value : cursorKey.value;
  if (key !== "") markOrCompare(key);
}

function toggleSelected(): void {
  const row = rows.value[selectedIndex.value];
  if (row !== undefined) toggleRow(row);
}

function zoomBy(factor: number): void {
  const { start, end } = range.value;
  const span = rows.value[selectedIndex.value]?.node.span;
  const middle = span === undefined
    ? (start + end) / 2
    : Math.min(Math.max((span.startTime + span.endTime) / 2, start), end);
  setZoom(zoomRange(range.value, factor, middle, bounds.value));
}

function pan(share: number): void {
  setZoom(panRange(range.value, share, bounds.value));
}

function zoomToSelected(): void {
  const span = rows.value[selectedIndex.value]?.node.span;
  if (span === undefined) return;
  const margin = (span.endTime - span.startTime) * 0.05;
  const { start, end } = bounds.value;
  setZoom({
    start: Math.max(span.startTime - margin, start),
    end: Math.max(Math.min(span.endTime + margin, end), span.startTime + 0.002),
  });
}

/** Zooms; to the whole trace is the same as not zooming. */
export function setZoom(wanted: { start: number; end: number }): void {
  const { start, end } = bounds.value;
  zoom.value = wanted.start <= start && wanted.end >= end ? undefined : wanted;
}
