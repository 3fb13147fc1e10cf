import type { Signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { afterPaint, useSize } from "../dom.ts";
import { nextOrder, type Order } from "../model/sort.ts";
import { scrollToRow, visibleWindow } from "../model/virtual.ts";
import { Chip } from "./controls.tsx";

interface VirtualGridProps<Item> {
  readonly id: string;
  readonly label: string;
  readonly role: "grid" | "treegrid";
  /** Which part of the page it is, for the keyboard. */
  readonly place: "list" | "trace";
  readonly items: readonly Item[];
  /** The height of each row and of the head, in pixels. */
  readonly rowHeight: number;
  /** The index of the row that the keyboard is on; -1 for none. */
  readonly active?: number;
  /** The id of the element of a row. */
  readonly rowId?: (item: Item) => string;
  /** When one of these changes, the active row is scrolled to. */
  readonly reveal?: readonly unknown[];
  readonly head: ComponentChildren;
  readonly row: (item: Item, index: number) => ComponentChildren;
  /** What stands behind the rows. */
  readonly behind?: ComponentChildren;
  readonly children?: ComponentChildren;
  readonly onScroll?: (scrollTop: number) => void;
  readonly onClick?: (event: MouseEvent) => void;
  readonly onDblClick?: (event: MouseEvent) => void;
  readonly onWheel?: (event: WheelEvent) => void;
}

/** A grid of which only the rows in view are in the page. */
export function VirtualGrid<Item>(props: VirtualGridProps<Item>) {
  const { items, rowHeight, active = -1, rowId } = props;
  const ref = useRef<HTMLDivElement>(null);
  // As many as there is room for at most, until the element says how many.
  const most = Math.ceil((innerHeight - 100) / rowHeight);
  const view = useSignal({ first: 0, end: most });
  // Kept, because asking the element would lay out the page again each time.
  const box = useRef({ scrollTop: 0, height: 0, update: () => {} });

  const update = () => {
    const { scrollTop, height } = box.current;
    if (height === 0) return;
    const next = visibleWindow(scrollTop, height, rowHeight, items.length);
    const { first, end } = view.value;
    if (next.first !== first || next.end !== end) view.value = next;
  };
  box.current.update = update;
  /** Where to scroll for the active row to be in view. */
  const target = () => {
    const { scrollTop, height } = box.current;
    return active < 0 || height === 0
      ? scrollTop
      : scrollToRow(active, scrollTop, height, rowHeight);
  };
  const reveal = () => {
    const top = target();
    if (top !== box.current.scrollTop) {
      ref.current!.scrollTop = box.current.scrollTop = top;
    }
  };
  useSize(ref, ({ height }) => {
    // Whoever saw the active row goes on seeing it, also in less room.
    const saw = target() === box.current.scrollTop;
    box.current.height = height - rowHeight;
    // Rows out of view are drawn once those in view have been painted.
    const isFull = view.peek().end * rowHeight > box.current.scrollTop + height;
    if (isFull) afterPaint(() => box.current.update());
    else update();
    if (saw) reveal();
  });
  useLayoutEffect(update, [items.length]);
  useLayoutEffect(reveal, props.reveal ?? []);

  const end = Math.min(view.value.end, items.length);
  const first = Math.min(view.value.first, end);
  const shown = active >= first && active < end ? items[active] : undefined;
  return (
    <div
      class={`grid ${props.id}`}
      role={props.role}
      id={props.id}
      aria-label={props.label}
      aria-rowcount={items.length + 1}
      aria-activedescendant={shown && rowId?.(shown)}
      tabIndex={0}
      data-place={props.place}
      ref={ref}
      onScroll={(event) => {
        box.current.scrollTop = event.currentTarget.scrollTop;
        update();
        props.onScroll?.(box.current.scrollTop);
      }}
      onClick={props.onClick}
      onDblClick={props.onDblClick}
      onWheel={props.onWheel}
    >
      <div class="grid-head" role="row">{props.head}</div>
      <div
        class="rows"
        role="rowgroup"
        style={{ height: `${items.length * rowHeight}px` }}
      >
        {props.behind}
        {/* One box is moved: moving each row would cost painting them all. */}
        <div
          role="presentation"
          style={{ transform: `translateY(${first * rowHeight}px)` }}
        >
          {items.slice(first, end).map((item, i) => props.row(item, first + i))}
        </div>
      </div>
      {props.children}
    </div>
  );
}

interface HeadCellsProps<Column extends string> {
  /** The columns and what their heads say. */
  readonly columns: readonly (readonly [Column, string])[];
  /** What the grid is ordered by. */
  readonly order: Signal<Order<Column>>;
}

/** The heads of columns that a click orders the grid by. */
export function HeadCells<Column extends string>(
  { columns, order }: HeadCellsProps<Column>,
) {
  const { column: sorted, descending } = order.value;
  return columns.map(([column, label]) => (
    <span
      key={column}
      role="columnheader"
      class={column}
      aria-sort={column !== sorted
        ? undefined
        : descending
        ? "descending"
        : "ascending"}
    >
      <Chip
        class=""
        tabIndex={-1}
        onClick={() => {
          order.value = nextOrder(order.value, column);
        }}
      >
        {label}
      </Chip>
    </span>
  ));
}
