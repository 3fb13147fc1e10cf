/**
 * A table of any length. Only visible rows are in the page.
 *
 * @module
 */

import { type Signal, useSignal } from "@preact/signals";
import type { ComponentChildren, HTMLAttributes } from "preact";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { afterPaint, clicked, useSize } from "../dom.ts";
import { nextOrder, type Order } from "../model/listing.ts";
import { scrollToRow, visibleWindow } from "../model/virtual.ts";
import { Chip } from "./controls.tsx";

/** A column of a grid. */
export interface Column<Item> {
  /** The class of its cells, and its key in the order of the grid. */
  readonly name: string;
  /** The text of its head. */
  readonly label?: string;
  /** The tooltip of its head. */
  readonly hint?: string;
  /** Draws the whole head, instead of a label. */
  readonly head?: () => ComponentChildren;
  /** Whether the grid can't be ordered by it. */
  readonly fixed?: boolean;
  /** Draws the content of a cell. */
  readonly cell: (item: Item) => ComponentChildren;
  /** Returns further classes of a cell. */
  readonly look?: (item: Item) => string;
  /** Returns the tooltip of a cell. */
  readonly title?: (item: Item) => string;
}

/** Returns a column with a label. */
export function column<Item>(
  name: string,
  label: string,
  cell: Column<Item>["cell"],
  more?: Partial<Column<Item>>,
): Column<Item> {
  return { name, label, cell, ...more };
}

/** A row between the items, which can't be picked. */
export interface Divider {
  readonly key: string;
  readonly divider: ComponentChildren;
}

/** Attributes of the element of a row. */
export type RowAttributes = HTMLAttributes<HTMLDivElement>;

interface GridProps<Item> {
  readonly id: string;
  readonly label: string;
  /** The part of the page, for the keyboard. A trace's rows are a tree. */
  readonly place: "list" | "trace";
  /** The role, if the rows of a trace aren't a tree. */
  readonly role?: "grid";
  readonly items: readonly (Item | Divider)[];
  /** With the same list as before, the cells of known items stay. */
  readonly columns: readonly Column<Item>[];
  /** The order that a click on a head changes. */
  readonly order?: Signal<Order<string>>;
  /** The height of each row and of the head, in pixels. */
  readonly rowHeight: number;
  /** The index of the active row. -1 for none. */
  readonly active: number;
  /** Returns the id of an item, which is unique in the grid. */
  readonly idOf: (item: Item, index: number) => string;
  /** Returns the attributes of a row. */
  readonly row: (item: Item, index: number) => RowAttributes;
  /** When one of these changes, the active row is scrolled to. */
  readonly reveal: readonly unknown[];
  /** Drawn behind the rows. */
  readonly behind?: ComponentChildren;
  /** Drawn below the rows. */
  readonly children?: ComponentChildren;
  readonly onScroll?: (scrollTop: number) => void;
  /** Called when the pointer or the keyboard enters or leaves the grid. */
  readonly onUse?: (inUse: boolean) => void;
  /** Called with the item whose row was clicked on. */
  readonly onPick: (item: Item, event: MouseEvent) => void;
  /** Called with the item whose row was double-clicked on. */
  readonly onDoublePick?: (item: Item, event: MouseEvent) => void;
  readonly onWheel?: (event: WheelEvent) => void;
}

/** Draws a grid. */
export function Grid<Item extends object>(props: GridProps<Item>) {
  const { id, items, columns, rowHeight, active } = props;
  const { ref, first, end, onScroll } = useWindow(props);
  const idOf = (item: Item | Divider, index: number) =>
    isDivider(item) ? item.key : props.idOf(item, index);
  // Ids of elements have no blanks, and names of routes do.
  const elementId = (index: number) =>
    `${id}-${idOf(items[index]!, index)}`.replace(/\s/g, "_");
  const pick = (event: MouseEvent, act: GridProps<Item>["onPick"]) => {
    const row = clicked(event, "row");
    const item = items.find((item, i) => idOf(item, i) === row);
    if (item !== undefined && !isDivider(item)) act(item, event);
  };
  return (
    <div
      class={`grid ${id}`}
      role={props.role ?? (props.place === "list" ? "grid" : "treegrid")}
      id={id}
      aria-label={props.label}
      aria-rowcount={items.length + 1}
      aria-activedescendant={active >= first && active < end
        ? elementId(active)
        : undefined}
      tabIndex={0}
      data-place={props.place}
      ref={ref}
      onScroll={onScroll}
      onClick={(event) => pick(event, props.onPick)}
      onDblClick={(event) => pick(event, props.onDoublePick ?? (() => {}))}
      onWheel={props.onWheel}
      {...useUse(props.onUse)}
    >
      <div class="grid-head" role="row">
        {columns.map((column) => (
          <Head key={column.name} column={column} order={props.order} />
        ))}
      </div>
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
          {items.slice(first, end).map((item, i) => {
            const attributes = {
              key: idOf(item, first + i),
              id: elementId(first + i),
              "aria-rowindex": first + i + 2,
            };
            return isDivider(item)
              ? (
                <div role="row" class="row divider" {...attributes}>
                  <span role="gridcell">{item.divider}</span>
                </div>
              )
              : (
                <Row
                  item={item}
                  columns={columns}
                  {...props.row(item, first + i)}
                  {...attributes}
                  data-row={attributes.key}
                />
              );
          })}
        </div>
      </div>
      {props.children}
    </div>
  );
}

function isDivider(item: object): item is Divider {
  return "divider" in item;
}

interface RowProps<Item> extends RowAttributes {
  readonly item: Item;
  readonly columns: readonly Column<Item>[];
}

function Row<Item>({ item, columns, ...attributes }: RowProps<Item>) {
  // Skips comparing unchanged cells: a live trace moves all rows and changes
  // none.
  const cells = useMemo(
    () =>
      columns.map(({ name, look, title, cell }) => (
        <span
          key={name}
          role="gridcell"
          class={look === undefined ? name : `${name} ${look(item)}`}
          title={title?.(item)}
        >
          {cell(item)}
        </span>
      )),
    [item, columns],
  );
  return <div role="row" {...attributes}>{cells}</div>;
}

interface HeadProps<Item> {
  readonly column: Column<Item>;
  readonly order: Signal<Order<string>> | undefined;
}

function Head<Item>({ column, order }: HeadProps<Item>) {
  const { name, label, hint, head, fixed } = column;
  if (head !== undefined) return head();
  if (order === undefined || fixed) {
    return <span role="columnheader" class={name} title={hint}>{label}</span>;
  }
  const { column: sorted, descending } = order.value;
  const direction = descending ? "descending" : "ascending";
  const sort = () => order.value = nextOrder(order.value, name);
  return (
    <span
      role="columnheader"
      class={name}
      title={hint}
      aria-sort={name === sorted ? direction : undefined}
    >
      <Chip class="" tabIndex={-1} onClick={sort}>{label}</Chip>
    </span>
  );
}

/** Returns handlers that report whether the grid is in use. */
function useUse(report: GridProps<unknown>["onUse"]) {
  const use = useRef({ pointer: false, keyboard: false });
  if (report === undefined) return {};
  const set = (change: Partial<typeof use.current>) => {
    Object.assign(use.current, change);
    report(use.current.pointer || use.current.keyboard);
  };
  return {
    onPointerEnter: () => set({ pointer: true }),
    onPointerLeave: () => set({ pointer: false }),
    // A click focuses it too, but isn't use of the keyboard.
    onFocusCapture: ({ currentTarget }: FocusEvent) =>
      set({ keyboard: (currentTarget as Element).matches(":focus-visible") }),
    onKeyDownCapture: () => set({ keyboard: true }),
    onBlurCapture: () => set({ keyboard: false }),
  };
}

/** Finds the visible rows, and scrolls to the active one when it changes. */
function useWindow<Item extends object>(props: GridProps<Item>) {
  const { items, rowHeight, active, reveal } = props;
  const ref = useRef<HTMLDivElement>(null);
  // As many as may fit, until the element's height is known.
  const most = Math.ceil((innerHeight - 100) / rowHeight);
  const view = useSignal({ first: 0, end: most });
  // Stored, because reading it from the element would cause a layout each time.
  const box = useRef({ scrollTop: 0, height: 0, update: () => {} });

  const update = () => {
    const { scrollTop, height } = box.current;
    if (height === 0) return;
    const next = visibleWindow(scrollTop, height, rowHeight, items.length);
    const { first, end } = view.value;
    if (next.first !== first || next.end !== end) view.value = next;
  };
  box.current.update = update;
  /** Returns the scroll position that shows the active row. */
  const target = () => {
    const { scrollTop, height } = box.current;
    return active < 0 || height === 0
      ? scrollTop
      : scrollToRow(active, scrollTop, height, rowHeight);
  };
  const scrollToActive = () => {
    const top = target();
    if (top !== box.current.scrollTop) {
      ref.current!.scrollTop = box.current.scrollTop = top;
    }
  };
  useSize(ref, ({ height }) => {
    // An active row that was visible stays visible in a smaller grid.
    const wasInView = target() === box.current.scrollTop;
    // Scroll positions are rounded.
    box.current.height = Math.floor(height) - rowHeight;
    // Visible rows are painted first.
    const isFull = view.peek().end * rowHeight > box.current.scrollTop + height;
    if (isFull) afterPaint(() => box.current.update());
    else update();
    if (wasInView) scrollToActive();
  });
  useLayoutEffect(update, [items.length]);
  useLayoutEffect(scrollToActive, reveal);

  const end = Math.min(view.value.end, items.length);
  return {
    ref,
    first: Math.min(view.value.first, end),
    end,
    onScroll(event: Event & { currentTarget: HTMLElement }) {
      box.current.scrollTop = event.currentTarget.scrollTop;
      update();
      props.onScroll?.(box.current.scrollTop);
    },
  };
}
