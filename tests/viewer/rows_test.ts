import { assertEquals } from "@std/assert";
import {
  countIn,
  listRows,
  pathTo,
  type RowOptions,
  rowsIn,
} from "../../viewer/model/rows.ts";
import { buildTree } from "../../viewer/model/tree.ts";
import { query, span, trace } from "./make_trace.ts";

const OPEN: RowOptions = {
  collapsed: new Set(),
  expandedGroups: new Set(),
  hiddenLayers: new Set(),
  grouped: true,
};

const tree = buildTree(trace(span("root", 0, 100, [
  span("loader", 0, 50, [
    query("SELECT 1", 1, 2),
    query("SELECT 2", 2, 3),
    query("SELECT 3", 3, 4),
  ], { layer: "data" }),
  span("render", 50, 90),
])));

function rowsOf(options: Partial<RowOptions> = {}): string[] {
  return listRows(tree, { ...OPEN, ...options })
    .map(({ id, depth }) => `${" ".repeat(depth)}${id}`);
}

Deno.test("listRows() shows repeated siblings as one row", () => {
  assertEquals(rowsOf(), ["root", " loader", "  group:db.query", " render"]);
});

Deno.test("listRows() shows the members of an open group below it", () => {
  assertEquals(rowsOf({ expandedGroups: new Set(["group:db.query"]) }), [
    "root",
    " loader",
    "  group:db.query",
    "   db.query",
    "   db.query#2",
    "   db.query#3",
    " render",
  ]);
});

Deno.test("listRows() shows every span when grouping is off", () => {
  assertEquals(rowsOf({ grouped: false }).length, 6);
});

Deno.test("listRows() hides the children of a collapsed span", () => {
  assertEquals(rowsOf({ collapsed: new Set(["loader"]) }), [
    "root",
    " loader",
    " render",
  ]);
});

Deno.test("listRows() moves up the children of a hidden layer", () => {
  assertEquals(rowsOf({ hiddenLayers: new Set(["data"]), grouped: false }), [
    "root",
    " db.query",
    " db.query#2",
    " db.query#3",
    " render",
  ]);
  assertEquals(rowsOf({ hiddenLayers: new Set(["database"]) }), [
    "root",
    " loader",
    " render",
  ]);
});

Deno.test("listRows() marks rows that can be expanded", () => {
  const rows = listRows(tree, { ...OPEN, collapsed: new Set(["loader"]) });
  assertEquals(
    rows.map(({ expandable, expanded }) => [expandable, expanded]),
    [[true, true], [true, false], [false, false]],
  );
});

Deno.test("pathTo() names everything that may hide a span", () => {
  const path = pathTo(tree.byId.get("db.query#2")!);
  assertEquals(path, {
    spans: ["loader", "root"],
    groups: ["group:db.query"],
  });
});

Deno.test("rowsIn() keeps rows of a time range and the rows above them", () => {
  const idsIn = (start: number, end: number, options = OPEN) =>
    rowsIn(listRows(tree, options), { start, end }).map(({ id }) => id);
  assertEquals(idsIn(60, 70), ["root", "render"]);
  assertEquals(idsIn(2.5, 2.6), ["root", "loader", "group:db.query"]);
  assertEquals(idsIn(10, 20), ["root", "loader"]);

  const late = buildTree(trace(span("root", 0, 100, [
    span("job", 0, 10, [span("later", 40, 50), span("next", 12, 13)]),
    span("running", 20, 20, [], { attributes: { "app.open": true } }),
  ])));
  const lateIn = (start: number, end: number, collapsed: string[]) =>
    rowsIn(listRows(late, { ...OPEN, collapsed: new Set(collapsed) }), {
      start,
      end,
    }).map(({ id }) => id);
  assertEquals(lateIn(45, 46, []), ["root", "job", "later", "running"]);
  assertEquals(lateIn(45, 46, ["job"]), ["root", "job", "running"]);
  assertEquals(lateIn(11, 11.5, []), ["root"]);
  assertEquals(countIn(late, { start: 45, end: 46 }), 3);
});
