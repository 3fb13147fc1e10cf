import { assert, assertEquals } from "@std/assert";
import { buildTree, selfTimeOf } from "../../viewer/model/tree.ts";
import { largeTrace } from "./sample_traces.ts";
import { span, trace } from "./make_trace.ts";

const names = (of: ReturnType<typeof buildTree>) =>
  of.nodes.map((node) => node.span.name);

Deno.test("buildTree() is depth-first and orders siblings by start", () => {
  const tree = buildTree(trace(span("root", 0, 10, [
    span("late", 5, 6),
    span("early", 1, 4, [span("inner", 2, 3)]),
  ])));
  assertEquals(names(tree), ["root", "early", "inner", "late"]);
  assertEquals(tree.nodes.map((node) => node.depth), [0, 1, 2, 1]);
});

Deno.test("buildTree() attaches a span with a missing parent to the root", () => {
  const made = trace(span("root", 0, 10, [span("child", 1, 2)]));
  const spans = made.spans.map((each) =>
    each.name === "child" ? { ...each, parentId: "gone" } : each
  );
  const tree = buildTree({ ...made, spans });
  assertEquals(tree.byId.get("child")?.parent?.span.name, "root");
});

Deno.test("buildTree() puts a browser's span above the root it caused", () => {
  const made = trace(span("fetch", 0, 20, [span("root", 5, 15)]));
  const tree = buildTree({ ...made, rootSpanId: "root" });
  assertEquals(names(tree), ["fetch", "root"]);
  assertEquals([tree.start, tree.end], [0, 20]);
});

Deno.test("buildTree() ignores a remote parent of the root", () => {
  const made = trace(span("root", 0, 10, [], { parentId: "elsewhere" }));
  assertEquals(names(buildTree(made)), ["root"]);
});

Deno.test("buildTree() shows spans that are each other's parent once", () => {
  const made = trace(span("root", 0, 10, [span("a", 1, 2), span("b", 2, 3)]));
  const spans = made.spans.map((each) =>
    each.name === "a"
      ? { ...each, parentId: "b" }
      : each.name === "b"
      ? { ...each, parentId: "a" }
      : each
  );
  const tree = buildTree({ ...made, spans });
  assertEquals(names(tree).toSorted(), ["a", "b", "root"]);
});

Deno.test("buildTree() accepts a root that is its own ancestor", () => {
  const made = trace(span("root", 0, 10, [span("a", 1, 2)]));
  const spans = made.spans.map((each) =>
    each.name === "root" ? { ...each, parentId: "a" } : each
  );
  assertEquals(buildTree({ ...made, spans }).nodes.length, 2);
  const self = made.spans.map((each) => ({ ...each, parentId: each.id }));
  assertEquals(buildTree({ ...made, spans: self }).nodes.length, 2);
});

Deno.test("buildTree() counts failures up to the root", () => {
  const tree = buildTree(trace(span("root", 0, 10, [
    span("a", 1, 5, [
      span("b", 1, 2, [], { status: "error" }),
      span("c", 2, 3, [], { status: "timeout" }),
    ]),
    span("d", 6, 7),
  ])));
  const below = tree.nodes.map(({ span, errorsBelow }) =>
    [span.name, errorsBelow] as const
  );
  assertEquals(below, [["root", 2], ["a", 2], ["b", 0], ["c", 0], ["d", 0]]);
});

Deno.test("buildTree() handles a chain of 20,000 spans without recursing", () => {
  let chain = span("leaf", 0, 1);
  const spans = trace(chain).spans.slice();
  for (let i = 0; i < 20_000; i++) {
    chain = span(`s${i}`, 0, 1);
    spans.push({
      ...spans[0]!,
      id: `s${i}`,
      parentId: i === 0 ? "leaf" : `s${i - 1}`,
    });
  }
  const tree = buildTree({ ...trace(span("leaf", 0, 1)), spans });
  assertEquals(tree.nodes.length, 20_001);
  assertEquals(tree.nodes.at(-1)?.depth, 20_000);
});

Deno.test("buildTree() returns an empty tree for no spans", () => {
  const made = { ...trace(span("root", 3, 4)), spans: [] };
  const tree = buildTree(made);
  assertEquals(tree.nodes, []);
  assertEquals([tree.start, tree.end], [3, 4]);
});

Deno.test("buildTree() keeps every span of a large trace", () => {
  const made = largeTrace(10_000);
  assertEquals(made.spans.length, 10_000);
  const tree = buildTree(made);
  assertEquals(new Set(tree.nodes.map((node) => node.span.id)).size, 10_000);
  assert(tree.nodes.every((node, i) => node.index === i));
});

Deno.test("buildTree() leaves detached work out of the total, and knows its extent", () => {
  const detached = { attributes: { "app.detached": true } };
  const tree = buildTree(trace(span("page", 10, 20, [
    span("socket", 12, 90, [span("message", 50, 60)], detached),
    span("fetch", 12, 18),
  ])));
  assertEquals([tree.start, tree.end], [10, 20]);
  assertEquals(tree.extent, { start: 10, end: 90 });
  assertEquals(
    tree.nodes.map(({ span, detached }) => [span.name, detached]),
    [["page", false], ["socket", true], ["message", true], ["fetch", false]],
  );
  assertEquals(selfTimeOf(tree.nodes[0]!), 4);
});

Deno.test("buildTree() doesn't take a rounded end for later work", () => {
  const page = span("page", 1795425810022.8965, 1795425810025.927);
  const made = { ...trace(page), duration: 3.030373999999938 };
  const { end, extent } = buildTree(made);
  assertEquals(extent.end, end);
});

Deno.test("buildTree() doesn't count a running span as failed", () => {
  const running = {
    status: "timeout",
    attributes: { "app.open": true },
  } as const;
  const tree = buildTree(trace(span("root", 0, 10, [
    span("running", 3, 3, [], running),
  ])));
  assertEquals(tree.nodes[0]?.errorsBelow, 0);
});
