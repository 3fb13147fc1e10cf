/**
 * The keyboard. One list of keys is both what they do and what `?` shows.
 *
 * @module
 */

import { signal } from "@preact/signals";
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

/** A key, or several that do the same. */
interface Binding {
  /** Values of `KeyboardEvent.key`. */
  readonly keys: readonly string[];
  /** What the list of keys says; keys without it are second names. */
  readonly label: string;
  /** Under which head the list of keys has it. */
  readonly section: "Everywhere" | "List" | "Trace";
  /** Does it. */
  readonly run: () => void;
}

/** All keys. */
export const BINDINGS: readonly Binding[] = [
  { keys: ["/"], section: "Everywhere", label: "Search", run: focusSearch },
  {
    keys: ["j", "ArrowDown"],
    section: "Everywhere",
    label: "Next row",
    run: () => move(1),
  },
  {
    keys: ["k", "ArrowUp"],
    section: "Everywhere",
    label: "Row before",
    run: () => move(-1),
  },
  {
    keys: ["PageDown"],
    section: "Everywhere",
    label: "Page down",
    run: () => move(15),
  },
  {
    keys: ["PageUp"],
    section: "Everywhere",
    label: "Page up",
    run: () => move(-15),
  },
  {
    keys: ["g", "Home"],
    section: "Everywhere",
    label: "First row",
    run: () => move(-Infinity),
  },
  {
    keys: ["G", "End"],
    section: "Everywhere",
    label: "Last row",
    run: () => move(Infinity),
  },
  {
    keys: ["Enter"],
    section: "Everywhere",
    label: "Open the trace; in it, go to the span's details",
    run: enter,
  },
  {
    keys: ["Escape"],
    section: "Everywhere",
    label: "Back: details, trace, list",
    run: escape,
  },
  {
    keys: ["t"],
    section: "Everywhere",
    label: "Theme: system, light, dark",
    run: nextTheme,
  },
  {
    keys: ["o"],
    section: "Everywhere",
    label: "Open files",
    run: chooseFiles,
  },
  {
    keys: ["?"],
    section: "Everywhere",
    label: "This list",
    run: () => {
      helpOpen.value = !helpOpen.value;
    },
  },
  {
    keys: ["p"],
    section: "List",
    label: "Pause or resume the live tail",
    run: togglePaused,
  },
  {
    keys: ["r"],
    section: "List",
    label: "Traces or routes",
    run: () => {
      listTab.value = listTab.value === "routes" ? "traces" : "routes";
    },
  },
  {
    keys: ["x"],
    section: "List",
    label: "Mark, then compare with the marked trace",
    run: compare,
  },
  {
    keys: ["l", "ArrowRight"],
    section: "Trace",
    label: "Expand, or go to the first child",
    run: stepInto,
  },
  {
    keys: ["h", "ArrowLeft"],
    section: "Trace",
    label: "Collapse, or go to the parent",
    run: stepOut,
  },
  {
    keys: [" "],
    section: "Trace",
    label: "Expand or collapse",
    run: toggleSelected,
  },
  {
    keys: ["a"],
    section: "Trace",
    label: "Expand or collapse everything",
    run: toggleAll,
  },
  {
    keys: ["e"],
    section: "Trace",
    label: "Next error",
    run: () => stepThrough(failures.value, 1),
  },
  {
    keys: ["E"],
    section: "Trace",
    label: "Error before",
    run: () => stepThrough(failures.value, -1),
  },
  {
    keys: ["n"],
    section: "Trace",
    label: "Next match of the search",
    run: () => stepThrough(matches.value, 1),
  },
  {
    keys: ["N"],
    section: "Trace",
    label: "Match before",
    run: () => stepThrough(matches.value, -1),
  },
  {
    keys: ["+", "="],
    section: "Trace",
    label: "Zoom in",
    run: () => zoomBy(0.6),
  },
  {
    keys: ["-"],
    section: "Trace",
    label: "Zoom out",
    run: () => zoomBy(1 / 0.6),
  },
  {
    keys: [","],
    section: "Trace",
    label: "Earlier",
    run: () => pan(-0.25),
  },
  { keys: ["."], section: "Trace", label: "Later", run: () => pan(0.25) },
  {
    keys: ["z"],
    section: "Trace",
    label: "Zoom to the selected span",
    run: zoomToSelected,
  },
  {
    keys: ["0"],
    section: "Trace",
    label: "The whole trace",
    run: () => {
      zoom.value = undefined;
    },
  },
  {
    keys: ["f"],
    section: "Trace",
    label: "Waterfall or flame graph",
    run: () => {
      view.value = view.value === "flame" ? "waterfall" : "flame";
    },
  },
  {
    keys: ["c"],
    section: "Trace",
    label: "Critical path",
    run: () => {
      showCritical.value = !showCritical.value;
    },
  },
  {
    keys: ["u"],
    section: "Trace",
    label: "Group repeated spans",
    run: () => {
      grouped.value = !grouped.value;
    },
  },
  {
    keys: ["\\"],
    section: "Trace",
    label: "Hide or show the list",
    run: () => {
      listHidden.value = !listHidden.value;
    },
  },
  {
    keys: ["y"],
    section: "Trace",
    label: "Copy the span as JSON",
    run: copyJson,
  },
  {
    keys: ["Y"],
    section: "Trace",
    label: "Copy the request as curl",
    run: copyCurl,
  },
];

const byKey = new Map(
  BINDINGS.flatMap((binding) => binding.keys.map((key) => [key, binding])),
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
    if (binding.section === "Trace" && tree.value === undefined) return;
    event.preventDefault();
    binding.run();
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
  requestAnimationFrame(() => focusPlace("trace"));
}

function escape(): void {
  if (focusedPlace() === "details") focusPlace("trace");
  else if (selectedRow.value !== "" && inTrace()) selectedRow.value = "";
  else if (zoom.value !== undefined && inTrace()) zoom.value = undefined;
  else if (wantedTrace.value !== "") {
    closeTrace();
    requestAnimationFrame(() => focusPlace("list"));
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
