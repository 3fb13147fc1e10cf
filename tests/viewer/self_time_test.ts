import { assertEquals } from "@std/assert";
import { selfSegments } from "../../trace/export/self_time.ts";
import { buildTree, selfTimeOf } from "../../viewer/model/tree.ts";
import { span, trace } from "./make_trace.ts";

const at = (startTime: number, endTime: number) => ({
  startTime,
  endTime,
  attributes: {},
});
const browser = { attributes: { "app.origin": "client" } };

Deno.test("A leaf's self time is its recorded duration", () => {
  const { nodes } = buildTree(trace(
    span("root", 0, 10, [span("leaf", 1, 4, [], { duration: 3.0001 })]),
  ));
  assertEquals(nodes.map(selfTimeOf), [7, 3.0001]);
});

Deno.test("selfSegments() returns the parts that no child covers", () => {
  assertEquals(selfSegments(at(0, 10), [at(2, 4), at(6, 7)]), [
    [0, 2],
    [4, 6],
    [7, 10],
  ]);
});

Deno.test("selfSegments() counts overlapping children once", () => {
  assertEquals(selfSegments(at(0, 10), [at(1, 5), at(2, 4), at(3, 6)]), [
    [0, 1],
    [6, 10],
  ]);
});

Deno.test("selfSegments() clips children that exceed their parent", () => {
  assertEquals(selfSegments(at(5, 10), [at(0, 6), at(9, 99), at(50, 60)]), [
    [6, 9],
  ]);
});

Deno.test("selfSegments() returns nothing for a span without duration", () => {
  assertEquals(selfSegments(at(5, 5), []), []);
});

Deno.test("Self times of a tree without overlap add up to its duration", () => {
  const tree = buildTree(trace(span("root", 0, 100, [
    span("a", 10, 40, [span("b", 20, 30)]),
    span("c", 50, 90),
  ])));
  const total = tree.nodes.reduce((sum, node) => sum + selfTimeOf(node), 0);
  assertEquals(total, 100);
});

Deno.test("Browser spans don't reduce the self time of the server span above them", () => {
  const { nodes } = buildTree(trace(span("root", 0, 10, [
    span("loader", 2, 5),
    span("page:load", 4, 90, [
      span("fetch", 20, 60, [span("answer", 30, 40)], browser),
    ], browser),
  ])));
  assertEquals(
    nodes.map((node) => [node.span.name, selfTimeOf(node)]),
    [["root", 7], ["loader", 3], ["page:load", 46], ["fetch", 30], [
      "answer",
      10,
    ]],
  );
});
