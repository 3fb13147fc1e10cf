/**
 * The keys of the page. The help dialog shows the same list.
 *
 * @module
 */

import { type Signal, signal } from "@preact/signals";
import { clamp } from "../model/numbers.ts";
import type { TraceView } from "../model/url_state.ts";
import { copyCurl, copyJson } from "./copying.ts";
import { openSelected } from "./editor.ts";
import { chooseFiles } from "./files.ts";
import { hasCache, isLooking } from "./dev_command.ts";
import { LIST_TABS, listTab, queryText } from "./listing.ts";
import {
  grouped,
  openedTrace,
  showCritical,
  tree,
  wantedCompare,
  wantedTrace,
} from "./opened.ts";
import { comparison, highlighted, matches } from "./rows.ts";
import * as routeSpans from "./route_spans.ts";
import * as selection from "./selection.ts";
import { timeZone } from "./settings.ts";
import { nextTheme } from "./theme.ts";
import { togglePaused } from "./traces.ts";
import { panBy, range, resetZoom, zoom, zoomBy, zoomTo } from "./zoom.ts";

/** Whether the list of keys is shown. */
export const helpOpen = signal(false);

/** Keys (values of `KeyboardEvent.key`), a label, and the action. */
type Binding = readonly [
  keys: readonly string[],
  label: string,
  run: () => void,
];

/** All keys, by the part of the page that they act on. */
export const BINDINGS: Readonly<Record<string, readonly Binding[]>> = {
  Everywhere: [
    [["/"], "Search", focusSearch],
    [["j", "ArrowDown"], "Next row", () => move(1)],
    [["k", "ArrowUp"], "Previous row", () => move(-1)],
    [["PageDown"], "Page down", () => move(15)],
    [["PageUp"], "Page up", () => move(-15)],
    [["g", "Home"], "First row", () => move(-Infinity)],
    [["G", "End"], "Last row", () => move(Infinity)],
    [["Enter"], "Open the trace or the details", enter],
    [["Escape"], "Back: details, trace, list", escape],
    [["t"], "Theme: system, light, dark", nextTheme],
    [["T"], "Times: local or UTC", timeZone.next],
    [["O"], "Open files", chooseFiles],
    [["?"], "This list", () => toggle(helpOpen)],
  ],
  List: [
    [["p"], "Pause or resume the live tail", togglePaused],
    [["r"], "Next tab of the list", toggleTab],
    [["x"], "Mark, then compare with another", compare],
  ],
  Trace: [
    [["l", "ArrowRight"], "Expand, or to the first child", selection.stepInto],
    [["h", "ArrowLeft"], "Collapse, or to the parent", selection.stepOut],
    [[" "], "Expand or collapse", selection.toggleSelected],
    [["a"], "Expand or collapse everything", selection.toggleAll],
    [["e"], "Next error", () => selection.stepThroughErrors(1)],
    [["E"], "Previous error", () => selection.stepThroughErrors(-1)],
    [["n"], "Next match", () => selection.stepThrough(matches.value, 1)],
    [["N"], "Previous match", () => selection.stepThrough(matches.value, -1)],
    [["+", "="], "Zoom in", () => zoomAtSelected(0.6)],
    [["-"], "Zoom out", () => zoomAtSelected(1 / 0.6)],
    [[","], "Move to earlier times", () => panBy(-0.25)],
    [["."], "Move to later times", () => panBy(0.25)],
    [["z"], "Zoom to the selected span", zoomToSelected],
    [["0"], "Show the whole trace", resetZoom],
    [["w"], "Waterfall", () => switchView("waterfall")],
    [["f"], "Waterfall or flame graph", () => switchView("flame")],
    [["s"], "Waterfall or sums of repeated work", () => switchView("table")],
    [["c"], "Critical path", () => toggle(showCritical)],
    [["u"], "Group repeated spans", () => toggle(grouped)],
    [["\\"], "Hide or show the list", () => toggle(selection.listHidden)],
    [["o"], "Open the line of code in the editor", openSelected],
    [["y"], "Copy the span as JSON", copyJson],
    [["Y"], "Copy the request as curl", copyCurl],
  ],
};

function toggle(option: Signal<boolean>): void {
  option.value = !option.value;
}

function toggleTab(): void {
  const isShown = {
    traces: true,
    routes: true,
    findings: isLooking.value,
    cache: hasCache.value,
  };
  const tabs = LIST_TABS.filter((tab) => isShown[tab]);
  listTab.value = tabs[(tabs.indexOf(listTab.value) + 1) % tabs.length]!;
  focusDrawn("list");
}

/** Shows a view, or the waterfall if it is shown already. */
function switchView(view: TraceView): void {
  const now = selection.view.value;
  selection.view.value = now === view ? "waterfall" : view;
  focusDrawn("trace");
}

const byKey = new Map(
  Object.entries(BINDINGS).flatMap(([section, bindings]) =>
    bindings.flatMap(([keys, , run]) =>
      keys.map((key) => [key, { section, run }])
    )
  ),
);

/** Runs the action of a key. Returns whether there is one. */
export function runKey(key: string): boolean {
  const binding = byKey.get(key);
  if (binding === undefined) return false;
  if (binding.section === "Trace" && tree.value === undefined) return false;
  binding.run();
  return true;
}

/** Listens to the keyboard. */
export function startKeyboard(): void {
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { key } = event;
    const target = event.target as Element;
    const isIn = (selector: string) => target.closest?.(selector);
    if (isIn("dialog, [role=menu], select")) return;
    if (target instanceof HTMLInputElement) {
      if (key === "Escape") leaveField(target);
      else if (key === "Enter" || key === "ArrowDown") focusPlace("list");
      return;
    }
    // These keys press the button.
    if ((key === "Enter" || key === " ") && isIn("button")) return;
    if (key.startsWith("Arrow") && isIn("[data-own-keys]")) return;
    if (runKey(key)) event.preventDefault();
  });
}

function leaveField(field: HTMLElement): void {
  if (field.id === "search" && queryText.value !== "") queryText.value = "";
  else focusPlace(wantedTrace.value === "" ? "list" : "trace");
}

/** Focuses a part of the page. */
function focusPlace(place: "list" | "trace" | "details"): void {
  document.querySelector<HTMLElement>(`[data-place="${place}"]`)?.focus();
}

/**
 * Focuses a part of the page that is drawn next, unless another key moves the
 * focus before that.
 */
function focusDrawn(place: "list" | "trace"): void {
  const before = document.activeElement;
  setTimeout(() => {
    const focused = document.activeElement;
    // Elements that are removed leave the focus to the body.
    if (focused === before || focused === document.body) focusPlace(place);
  });
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

/** Whether keys act on the table of repeated work. */
function inTable(): boolean {
  return selection.view.value === "table" && focusedPlace() !== "details" &&
    comparison.value === undefined;
}

/** Whether keys act on the open trace instead of the list. */
function inTrace(): boolean {
  return openedTrace.value !== undefined && focusedPlace() !== "list";
}

function move(by: number): void {
  const place = focusedPlace();
  if (place === "details" && Math.abs(by) !== 1) return;
  const rows = inTrace();
  if (rows && inTable()) selection.moveInWork(by);
  else if (rows) selection.moveInRows(by);
  else selection.moveInList(by);
  if (place === undefined) focusPlace(rows ? "trace" : "list");
}

function enter(): void {
  if (inTrace() && inTable()) {
    selection.openWorkAtCursor();
    focusDrawn("trace");
  } else if (inTrace()) {
    if (selection.selectedRow.value === "") selection.moveInRows(1);
    focusPlace("details");
  } else {
    selection.openAtCursor();
    focusDrawn(wantedTrace.value === "" ? "list" : "trace");
  }
}

function escape(): void {
  if (focusedPlace() === "details") focusPlace("trace");
  else if (selection.selectedRow.value !== "" && inTrace()) {
    selection.selectedRow.value = "";
  } else if (wantedCompare.value !== "") wantedCompare.value = "";
  else if (routeSpans.isShown()) routeSpans.openRouteSpans("");
  else if (highlighted.value !== "" && inTrace()) highlighted.value = "";
  else if (zoom.value !== undefined && inTrace()) resetZoom();
  else if (wantedTrace.value !== "") {
    selection.closeTrace();
    focusDrawn("list");
  }
}

function compare(): void {
  const key = inTrace() ? wantedTrace.value : selection.cursorKey.value;
  if (key === "") return;
  if (listTab.value === "routes" && !inTrace()) routeSpans.addRoute(key);
  else selection.markOrCompare(key);
}

/** Zooms around the selected span, or around the middle of the view. */
function zoomAtSelected(factor: number): void {
  const { start, end } = range.value;
  const { startTime, endTime } = selection.selected.value?.unit.node.span ??
    { startTime: start, endTime: end };
  zoomBy(factor, clamp((startTime + endTime) / 2, start, end));
}

function zoomToSelected(): void {
  const span = selection.selected.value?.unit.node.span;
  if (span === undefined) return;
  const margin = (span.endTime - span.startTime) * 0.05;
  zoomTo(span.startTime - margin, span.endTime + margin);
}
