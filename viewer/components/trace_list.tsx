import { useLayoutEffect } from "preact/hooks";
import { formatClock, formatCount, formatDuration } from "../model/format.ts";
import { type ListColumn, nextOrder } from "../model/sort.ts";
import { isFailedTrace, type TraceEntry } from "../model/summary.ts";
import { cutText } from "../model/text.ts";
import { clearFilters, listed, listOrder } from "../state/listing.ts";
import {
  cursorKey,
  markedKey,
  openTrace,
  wantedCompare,
  wantedTrace,
} from "../state/selection.ts";
import {
  heldText,
  listAtTop,
  setListAtTop,
  showHeld,
} from "../state/traces.ts";
import { LayerBar } from "./layer_bar.tsx";
import { useVirtualRows } from "./use_virtual_rows.ts";

const ROW_HEIGHT = 28;
const HEAD_HEIGHT = 28;

const COLUMNS: readonly { id: ListColumn; label: string; class: string }[] = [
  { id: "startTime", label: "Time", class: "time" },
  { id: "method", label: "Method", class: "method" },
  { id: "path", label: "Path", class: "path" },
  { id: "statusCode", label: "Status", class: "status" },
  { id: "duration", label: "Duration", class: "duration" },
  { id: "spanCount", label: "Spans", class: "spans" },
];

/** The list of traces. */
export function TraceList() {
  const list = listed.value;
  const rows = useVirtualRows(
    list.length,
    ROW_HEIGHT,
    HEAD_HEIGHT,
    (top) => setListAtTop(top < ROW_HEIGHT / 2),
  );
  const cursor = cursorKey.value;
  const at = cursor === "" ? -1 : list.findIndex(({ key }) => key === cursor);
  useLayoutEffect(() => rows.reveal(at), [cursor]);
  useLayoutEffect(() => () => setListAtTop(true), []);
  return (
    <div
      class="grid trace-list"
      role="grid"
      id="trace-list"
      aria-label="Traces"
      aria-rowcount={list.length + 1}
      aria-activedescendant={at >= rows.first && at < rows.end
        ? `trace-${list[at]!.key}`
        : undefined}
      tabIndex={0}
      data-place="list"
      ref={rows.ref}
      onClick={openClicked}
    >
      <div class="grid-head" role="row">
        {COLUMNS.map((column) => <ColumnHead key={column.id} {...column} />)}
        <span role="columnheader" class="layers">Layers</span>
      </div>
      <div
        class="rows"
        role="rowgroup"
        style={{ height: `${list.length * ROW_HEIGHT}px` }}
      >
        {list.slice(rows.first, rows.end).map((entry, i) => (
          <TraceRow
            key={entry.key}
            entry={entry}
            index={rows.first + i}
            cursor={entry.key === cursor}
          />
        ))}
      </div>
      {list.length === 0 && <NoMatches />}
      {heldText.value !== "" && !listAtTop.value && (
        <button
          type="button"
          class="new-pill"
          onClick={() => {
            showHeld();
            rows.ref.current!.scrollTop = 0;
          }}
        >
          {heldText.value}
        </button>
      )}
    </div>
  );
}

function openClicked(event: MouseEvent): void {
  const row = (event.target as Element).closest<HTMLElement>("[data-key]");
  if (row?.dataset.key !== undefined) openTrace(row.dataset.key);
}

function ColumnHead(
  { id, label, class: name }: { id: ListColumn; label: string; class: string },
) {
  const { column, descending } = listOrder.value;
  const sorted = column === id
    ? descending ? "descending" : "ascending"
    : undefined;
  return (
    <span role="columnheader" class={name} aria-sort={sorted}>
      <button
        type="button"
        tabIndex={-1}
        onClick={() => {
          listOrder.value = nextOrder(listOrder.value, id);
        }}
      >
        {label}
      </button>
    </span>
  );
}

interface TraceRowProps {
  readonly entry: TraceEntry;
  readonly index: number;
  readonly cursor: boolean;
}

function TraceRow({ entry, index, cursor }: TraceRowProps) {
  const { key, method, path, statusCode, pending } = entry;
  const selected = key === wantedTrace.value || key === wantedCompare.value;
  const failed = isFailedTrace(entry);
  const classes = [
    "row",
    selected ? "selected" : "",
    cursor ? "cursor" : "",
    failed ? "failed" : "",
    pending ? "pending" : "",
    key === markedKey.value ? "marked" : "",
  ].join(" ");
  return (
    <div
      class={classes}
      role="row"
      id={`trace-${key}`}
      aria-rowindex={index + 2}
      aria-selected={selected}
      data-key={key}
      style={{ transform: `translateY(${index * ROW_HEIGHT}px)` }}
    >
      <span role="gridcell" class="time">{formatClock(entry.startTime)}</span>
      <span role="gridcell" class="method">{cutText(method, 20)}</span>
      <span role="gridcell" class="path" title={cutText(path, 500)}>
        {cutText(path, 300)}
      </span>
      <span
        role="gridcell"
        class={`status status-${Math.floor(statusCode / 100)}`}
      >
        {pending
          ? "…"
          : statusCode === 0
          ? failed ? "failed" : "–"
          : statusCode}
      </span>
      <span role="gridcell" class="duration">
        {pending ? "running" : formatDuration(entry.duration)}
      </span>
      <span role="gridcell" class="spans">{formatCount(entry.spanCount)}</span>
      <span role="gridcell" class="layers">
        <LayerBar layers={pending ? [] : entry.layers} />
      </span>
    </div>
  );
}

function NoMatches() {
  return (
    <div class="no-rows" role="row">
      <span role="gridcell">
        No trace matches.{" "}
        <button type="button" class="link" onClick={clearFilters}>
          Show all
        </button>
      </span>
    </div>
  );
}
