import { assertEquals } from "@std/assert";
import { criticalPath } from "../../viewer/model/critical_path.ts";
import { totalLength } from "../../trace/export/self_time.ts";
import { buildTree } from "../../viewer/model/tree.ts";
import { sampleTraces } from "./sample_traces.ts";
import { type Sketch, span, trace } from "./make_trace.ts";

function pathOf(root: Sketch): Record<string, unknown> {
  const tree = buildTree(trace(root));
  const path = criticalPath(tree);
  return Object.fromEntries(
    tree.nodes
      .map((node) => [node.span.id, path(node)] as const)
      .filter(([, parts]) => parts !== undefined),
  );
}

Deno.test("criticalPath() follows the child that finished last", () => {
  assertEquals(
    pathOf(span("root", 0, 10, [span("fast", 1, 4), span("slow", 1, 9)])),
    { root: [[0, 1], [9, 10]], slow: [[1, 9]] },
  );
});

Deno.test("criticalPath() continues with the previous child", () => {
  assertEquals(
    pathOf(span("root", 0, 10, [span("a", 1, 3), span("b", 4, 8)])),
    { root: [[0, 1], [3, 4], [8, 10]], b: [[4, 8]], a: [[1, 3]] },
  );
});

Deno.test("criticalPath() leaves out spans that outlive their parent", () => {
  assertEquals(
    pathOf(span("root", 0, 10, [span("after", 5, 30), span("a", 1, 3)])),
    { root: [[0, 1], [3, 10]], a: [[1, 3]] },
  );
});

Deno.test("criticalPath() leaves out browser spans below a server's span", () => {
  const attributes = { "app.origin": "client" };
  assertEquals(
    pathOf(span("root", 0, 10, [
      span("a", 1, 3),
      span("page", 4, 9, [], { attributes }),
    ])),
    { root: [[0, 1], [3, 10]], a: [[1, 3]] },
  );
});

Deno.test("criticalPath() covers the top span exactly once", () => {
  for (const made of sampleTraces({ count: 200, seed: 11 })) {
    const tree = buildTree(made);
    const path = criticalPath(tree);
    const parts = tree.nodes.flatMap((node) => path(node) ?? []);
    const top = tree.nodes[0]!.span;
    const missing = totalLength(parts) - (top.endTime - top.startTime);
    assertEquals(Math.abs(missing) < 1e-6, true, `off by ${missing}`);
  }
});
