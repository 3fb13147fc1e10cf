import { assert, assertEquals } from "@std/assert";
import { compareLayers, compareTrees } from "../../viewer/model/compare.ts";
import { flameFrames, frameOf, placeFrames } from "../../viewer/model/flame.ts";
import {
  axisTicks,
  barBox,
  clampRange,
  panRange,
  stripes,
  wholeRange,
  zoomRange,
} from "../../viewer/model/time_range.ts";
import { buildTree } from "../../viewer/model/tree.ts";
import { scrollToRow, visibleWindow } from "../../viewer/model/virtual.ts";
import { largeTrace } from "./sample_traces.ts";
import { query, span, trace } from "./make_trace.ts";

const bounds = { start: 0, end: 100 };

Deno.test("clampRange() keeps a range's length and order within bounds", () => {
  assertEquals(clampRange(30, 10, bounds), { start: 10, end: 30 });
  assertEquals(clampRange(-20, 20, bounds), { start: 0, end: 40 });
  assertEquals(clampRange(90, 130, bounds), { start: 60, end: 100 });
  assertEquals(clampRange(-50, 500, bounds), bounds);
  const tiny = clampRange(5, 5, bounds);
  assert(tiny.end > tiny.start);
});

Deno.test("zoomRange() keeps the moment under the pointer in place", () => {
  const zoomed = zoomRange(bounds, 0.5, 25, bounds);
  assertEquals(zoomed, { start: 12.5, end: 62.5 });
  assertEquals(zoomRange(zoomed, 10, 25, bounds), bounds);
});

Deno.test("panRange() stops at the edge without changing the length", () => {
  assertEquals(panRange({ start: 10, end: 30 }, 0.5, bounds), {
    start: 20,
    end: 40,
  });
  assertEquals(panRange({ start: 10, end: 30 }, -3, bounds), {
    start: 0,
    end: 20,
  });
});

Deno.test("axisTicks() returns about as many round values as requested", () => {
  const ticks = axisTicks({ start: 1000, end: 1023 }, 1000, 5);
  assertEquals(ticks.map(({ label }) => label), [
    "0 ms",
    "5 ms",
    "10 ms",
    "15 ms",
    "20 ms",
  ]);
  for (const length of [0.004, 0.3, 7, 99, 1234, 5e6]) {
    const { length: count } = axisTicks({ start: 0, end: length }, 0, 6);
    assert(count >= 3 && count <= 8, `${count} ticks for ${length} ms`);
  }
});

Deno.test("axisTicks() distinguishes values that are close together", () => {
  const ticks = axisTicks({ start: 500, end: 500.01 }, 0, 5);
  assertEquals(new Set(ticks.map(({ label }) => label)).size, ticks.length);
});

Deno.test("axisTicks() accepts a trace without length", () => {
  assert(axisTicks(wholeRange(5, 5), 5, 6).length > 0);
});

Deno.test("barBox() clips a bar just outside the view", () => {
  assertEquals(barBox(25, 50, bounds)?.left, 25);
  assertEquals(barBox(25, 50, bounds)?.width, 25);
  assertEquals(barBox(200, 300, bounds), undefined);
  const wide = barBox(-1e9, 1e9, bounds)!;
  assert(wide.left > -5 && wide.width < 110);
});

Deno.test("stripes() joins bars that are too close to distinguish", () => {
  const thousand = Array.from(
    { length: 10_000 },
    (_, i) => [i / 100, i / 100 + 0.005] as const,
  );
  const image = stripes(thousand, bounds, "red", "white");
  assert(image.length < 200, `${image.length}`);
  assertEquals(
    stripes([[25, 50]], bounds, "red", "white"),
    "linear-gradient(90deg,white 0% 25.00%,red 25.00% 50.00%,white 50.00% 100%)",
  );
});

Deno.test("visibleWindow() contains the visible rows and few more", () => {
  for (const top of [0, 13, 999, 23_000, 1e9]) {
    const { first, end } = visibleWindow(top, 600, 24, 1000);
    assert(first >= 0 && end <= 1000 && first <= end);
    assert(end - first < 50);
    if (top < 20_000) {
      assert(first * 24 <= top && end * 24 >= Math.min(top + 600, 24_000));
    }
  }
  assertEquals(visibleWindow(0, 600, 24, 0), { first: 0, end: 0 });
});

Deno.test("scrollToRow() scrolls only as far as needed", () => {
  assertEquals(scrollToRow(5, 0, 240, 24), 0);
  assertEquals(scrollToRow(10, 0, 240, 24), 24);
  assertEquals(scrollToRow(2, 100, 240, 24), 48);
});

Deno.test("flameFrames() adds up siblings with one name", () => {
  const tree = buildTree(trace(span("root", 0, 100, [
    span("loader", 0, 60, [query("a", 0, 20), query("b", 20, 50)]),
    span("render", 60, 90),
  ])));
  const frames = flameFrames(tree);
  assertEquals(
    frames.map(({ name, nodes, x, time, selfTime }) =>
      [name, nodes.length, x, time, selfTime] as const
    ),
    [
      ["root", 1, 0, 100, 10],
      ["loader", 1, 0, 60, 10],
      ["render", 1, 60, 30, 30],
      ["db.query", 2, 0, 50, 50],
    ],
  );
  assertEquals(frameOf(frames, tree.byId.get("db.query#2")!)?.name, "db.query");
});

Deno.test("flameFrames() divides the total among parallel spans", () => {
  const detached = { attributes: { "app.detached": true } };
  const frames = flameFrames(buildTree(trace(span("page", 0, 100, [
    span("a", 0, 60),
    span("b", 20, 80, [span("c", 40, 80)]),
    span("socket", 10, 900, [], detached),
  ]))));
  assertEquals(
    frames.map(({ name, time, selfTime }) => [name, time, selfTime]),
    [
      ["page", 100, 20],
      ["a", 40, 40],
      ["socket", 0, 0],
      ["b", 40, 10],
      ["c", 30, 30],
    ],
  );
});

Deno.test("flameFrames() is as wide as the total when nothing ran in between", () => {
  const made = trace(span("first", 0, 10, [span("second", 30, 40)]));
  const frames = flameFrames(
    buildTree({ ...made, endTime: 40, duration: 40 }),
  );
  assertEquals(frames.map(({ time }) => time), [40, 10]);
});

Deno.test("flameFrames() counts failed spans", () => {
  const failed = { status: "error" } as const;
  const frames = flameFrames(buildTree(trace(span("root", 0, 100, [
    span("step", 0, 20, [], failed),
    span("step", 20, 50),
    span("step", 50, 60, [], failed),
  ]))));
  assertEquals(frames.map(({ failures }) => failures), [0, 2]);
});

Deno.test("flameFrames() keeps each frame within its parent", () => {
  const frames = flameFrames(buildTree(largeTrace(3000)));
  for (const { parent, x, time } of frames) {
    if (parent === undefined) continue;
    assert(x >= parent.x - 1e-6);
    assert(x + time <= parent.x + parent.time + 1e-6);
  }
});

Deno.test("placeFrames() leaves out frames that are too narrow to see", () => {
  const frames = flameFrames(buildTree(trace(span("root", 0, 100, [
    span("wide", 0, 99),
    span("thin", 99, 99.01),
  ]))));
  const placed = placeFrames(frames, frames[0]!, 500);
  assertEquals(placed.map(({ frame }) => frame.name), ["root", "wide"]);
  const zoomed = placeFrames(frames, frames[2]!, 500);
  assertEquals(
    zoomed.map(({ frame, width }) => [frame.name, Math.round(width)]),
    [
      ["root", 500],
      ["thin", 500],
    ],
  );
});

const asOne = { grouped: true, expandedGroups: new Set<string>() };

Deno.test("compareTrees() pairs spans of one name under one parent", () => {
  const a = buildTree(trace(span("root", 0, 10, [
    query("x", 1, 2),
    query("y", 2, 3),
    span("gone", 4, 5),
  ])));
  const b = buildTree(trace(span("root", 0, 20, [
    query("x", 1, 9),
    span("new", 10, 12, [span("deep", 10, 11)]),
  ])));
  const rows = compareTrees(a, b, asOne);
  assertEquals(
    rows.map(({ a, b, depth }) => [a?.id, b?.id, depth] as const),
    [
      ["root", "root", 0],
      ["db.query", "db.query", 1],
      ["db.query#2", undefined, 1],
      ["gone", undefined, 1],
      [undefined, "new", 1],
      [undefined, "deep", 2],
    ],
  );
});

Deno.test("compareTrees() starts at the server if only one side has a browser", () => {
  const inner = span("root", 5, 15, [span("work", 6, 9)]);
  const a = buildTree({
    ...trace(span("fetch", 0, 20, [inner])),
    rootSpanId: "root",
  });
  const b = buildTree(trace(inner));
  assertEquals(
    compareTrees(a, b, asOne).map(({ a, b }) => [a?.id, b?.id]),
    [["root", "root"], ["work", "work"]],
  );
});

Deno.test("compareTrees() pairs repeated siblings with repeated ones, or with a single one", () => {
  const loop = (count: number) =>
    buildTree(trace(span(
      "root",
      0,
      100,
      Array.from({ length: count }, (_, i) => query("x", i, i + 1)),
    )));
  const rowsOf = (a: number, b: number, ...open: string[]) =>
    compareTrees(loop(a), loop(b), {
      grouped: true,
      expandedGroups: new Set(open),
    }).slice(1).map(({ id, a, b, depth, expandable, expanded }) => [
      a?.id,
      b?.id,
      depth,
      expandable ? `${id}${expanded ? " open" : ""}` : "",
    ]);
  const id = "group:db.query";
  assertEquals(rowsOf(4, 3), [[id, id, 1, id]]);
  assertEquals(rowsOf(1, 3), [["db.query", id, 1, id]]);
  assertEquals(rowsOf(1, 3, id), [
    ["db.query", id, 1, `${id} open`],
    ["db.query", "db.query", 2, ""],
    [undefined, "db.query#2", 2, ""],
    [undefined, "db.query#3", 2, ""],
  ]);
  assertEquals(
    compareTrees(loop(3), loop(3), { ...asOne, grouped: false }).length,
    4,
  );
});

Deno.test("compareLayers() has each layer of either side", () => {
  assertEquals(compareLayers([["rpc", 2]], [["auth", 1], ["rpc", 3]]), [
    { layer: "auth", a: 0, b: 1 },
    { layer: "rpc", a: 2, b: 3 },
  ]);
});
