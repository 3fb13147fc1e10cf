import type { ComponentChildren } from "preact";

/** A column: its head, the content of a cell, and the class of a cell. */
export type TableColumn<Item> = readonly [
  label: string,
  cell: (item: Item) => ComponentChildren,
  look?: (item: Item) => string,
];

interface TableProps<Item> {
  readonly columns: readonly TableColumn<Item>[];
  readonly items: readonly Item[];
  /** The caption. */
  readonly children: ComponentChildren;
}

/** A short table. The first cell of a row is the head of the row. */
export function Table<Item>({ columns, items, children }: TableProps<Item>) {
  return (
    <table class="compare-layers">
      <caption>{children}</caption>
      <thead>
        <tr>
          {columns.map(([label]) =>
            label === ""
              ? <td key={label} />
              : <th scope="col" key={label}>{label}</th>
          )}
        </tr>
      </thead>
      <tbody>
        {items.map((item, row) => (
          <tr key={row}>
            {columns.map(([label, cell, look], i) =>
              i === 0
                ? <th scope="row" key={label}>{cell(item)}</th>
                : <td key={label} class={look?.(item)}>{cell(item)}</td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
