import { useLayoutEffect, useMemo } from "preact/hooks";
import { clicked } from "../dom.ts";
import { formatClock, formatCount, formatDuration } from "../model/format.ts";
import type { ListColumn } from "../model/sort.ts";
import { isFailedTrace, type TraceEntry } from "../model/summary.ts";
import { cutText } from "../model/text.ts";
import {
  clearFilters,
  filters,
  listed,
  listOrder,
  query,
} from "../state/listing.ts";
import { wantedCompare, wantedTrace } from "../state/opened.ts";
import { cursorKey, markedKey, openTrace } from "../state/selection.ts";
import {
  heldText,
  listAtTop,
  setListAtTop,
  showHeld,
} from "../state/traces.ts";
import { Cell, Chip, classes, Status } from "./controls.tsx";
import { LayerBar } from "./layer_bar.tsx";
import { HeadCells, VirtualGrid } from "./virtual_grid.tsx";

const ROW_HEIGHT = 28;

const COLUMNS: readonly (readonly [ListColumn, string])[] = [
  ["startTime", "Time"],
  ["method", "Method"],
  ["path", "Path"],
  ["statusCode", "Status"],
  ["duration", "Duration"],
  ["spanCount", "Spans"],
];

/** The list of traces. */
export function TraceList() {
  const list = listed.value;
  const cursor = cursorKey.value;
  const open = [wantedTrace.value, wantedCompare.value];
  const marked = markedKey.value;
  useLayoutEffect(() => () => setListAtTop(true), []);
  return (
    <VirtualGrid
      id="trace-list"
      label="Traces"
      role="grid"
      place="list"
      items={list}
      rowHeight={ROW_HEIGHT}
      active={cursor === "" ? -1 : list.findIndex(({ key }) => key === cursor)}
      rowId={rowId}
      reveal={[cursor, filters.value, query.value]}
      onScroll={(top) => setListAtTop(top < ROW_HEIGHT / 2)}
      onClick={openClicked}
      head={
        <>
          <HeadCells columns={COLUMNS} order={listOrder} />
          <span role="columnheader" class="layers">Layers</span>
        </>
      }
      row={(entry, index) => (
        <TraceRow
          key={entry.key}
          entry={entry}
          index={index}
          cursor={entry.key === cursor}
          selected={open.includes(entry.key)}
          marked={entry.key === marked}
        />
      )}
    >
      {list.length === 0 && <NoMatches />}
      {heldText.value !== "" && !listAtTop.value && (
        <Chip class="new-pill" onClick={showNew}>{heldText.value}</Chip>
      )}
    </VirtualGrid>
  );
}

function rowId(entry: TraceEntry): string {
  return `trace-${entry.key}`;
}

function openClicked(event: MouseEvent): void {
  const key = clicked(event, "key");
  if (key !== undefined) openTrace(key);
}

function showNew(): void {
  showHeld();
  document.querySelector("#trace-list")!.scrollTop = 0;
}

interface TraceRowProps {
  readonly entry: TraceEntry;
  readonly index: number;
  readonly cursor: boolean;
  readonly selected: boolean;
  readonly marked: boolean;
}

function TraceRow(props: TraceRowProps) {
  const { entry, index, cursor, selected, marked } = props;
  const { key, pending } = entry;
  // The same cells as last time are not compared again: when a trace comes in
  // live, all rows move and none changes.
  const cells = useMemo(() => traceCells(entry), [entry]);
  return (
    <div
      class={classes(
        "row",
        selected && "selected",
        cursor && "cursor",
        isFailedTrace(entry) && "failed",
        pending && "pending",
        marked && "marked",
      )}
      role="row"
      id={rowId(entry)}
      aria-rowindex={index + 2}
      aria-selected={selected}
      data-key={key}
    >
      {cells}
    </div>
  );
}

function traceCells(entry: TraceEntry) {
  const { method, path, route, statusCode, pending } = entry;
  return (
    <>
      <Cell of="startTime">{formatClock(entry.startTime)}</Cell>
      <Cell of="method">{cutText(method, 20)}</Cell>
      <Cell of="path" title={cutText(path, 500)}>
        {cutText(path, 300)}
        {route !== "" && route !== path && (
          <span class="muted">{cutText(route, 100)}</span>
        )}
      </Cell>
      <Cell of="statusCode">
        <Status code={statusCode} />
      </Cell>
      <Cell of="duration">
        {pending ? "running" : formatDuration(entry.duration)}
      </Cell>
      <Cell of="spanCount">{formatCount(entry.spanCount)}</Cell>
      <Cell of="layers">
        <LayerBar layers={pending ? [] : entry.layers} />
      </Cell>
    </>
  );
}

function NoMatches() {
  return (
    <div class="no-rows" role="row">
      <span role="gridcell">
        No trace matches.{" "}
        <Chip class="link" onClick={clearFilters}>Show all</Chip>
      </span>
    </div>
  );
}
