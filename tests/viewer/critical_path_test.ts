import { assertEquals } from "@std/assert";
import {
  criticalPath,
  sumUpCriticalPath,
} from "../../viewer/model/critical_path.ts";
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

Deno.test("criticalPath() covers the whole trace exactly once", () => {
  for (const made of sampleTraces({ count: 200, seed: 11 })) {
    const tree = buildTree(made);
    const path = criticalPath(tree);
    const parts = tree.nodes.flatMap((node) => path(node) ?? []);
    const missing = totalLength(parts) - (tree.end - tree.start);
    assertEquals(Math.abs(missing) < 1e-6, true, `off by ${missing}`);
  }
});

const browser = { attributes: { "app.origin": "client" } };

Deno.test("criticalPath() goes from the browser through a fetch to its server", () => {
  assertEquals(
    pathOf(span("page", 0, 100, [
      // The rest of the response came after the fetch had its head.
      span("fetch", 20, 60, [span("server", 30, 65, [span("query", 35, 55)])], {
        ...browser,
      }),
      span("socket", 10, 900, [span("message", 70, 90)], {
        attributes: { ...browser.attributes, "app.detached": true },
      }),
    ], browser)),
    {
      page: [[0, 20], [60, 100]],
      fetch: [[20, 30]],
      server: [[30, 35], [55, 60]],
      query: [[35, 55]],
    },
  );
});

Deno.test("criticalPath() continues with work after the top span", () => {
  const tree = buildTree({
    ...trace(span("first", 0, 10, [span("second", 15, 30)])),
    endTime: 30,
    duration: 30,
  });
  const path = criticalPath(tree);
  assertEquals(tree.nodes.map(path), [[[0, 10]], [[15, 30]]]);
});

Deno.test("criticalPath() goes through what happens during the phases of a page load", () => {
  const load = { attributes: { ...browser.attributes, "app.action": "load" } };
  assertEquals(
    pathOf(span("page:load", 0, 110, [
      span("request", 10, 50, [], browser),
      span("server", 20, 70, [span("query", 30, 40)]),
      // The server streams the page.
      span("response", 50, 75, [], browser),
      span("dom", 75, 100, [], browser),
      span("script", 80, 95, [span("script's server", 85, 90)], browser),
    ], load)),
    {
      "page:load": [[0, 10], [100, 110]],
      request: [[10, 20]],
      server: [[20, 30], [40, 70]],
      query: [[30, 40]],
      response: [[70, 75]],
      dom: [[75, 80], [95, 100]],
      script: [[80, 85], [90, 95]],
      "script's server": [[85, 90]],
    },
  );
});

Deno.test("criticalPath() goes through a server that notes the end of a page late", () => {
  const load = { attributes: { ...browser.attributes, "app.action": "load" } };
  assertEquals(
    pathOf(span("page:load", 0, 110, [
      span("request", 10, 50, [], browser),
      span("server", 20, 90, [span("query", 30, 45)]),
      span("response", 50, 60, [], browser),
      span("script", 55, 95, [], browser),
      span("dom", 60, 100, [], browser),
    ], load)),
    {
      "page:load": [[0, 10], [100, 110]],
      request: [[10, 20]],
      server: [[20, 30], [45, 55]],
      query: [[30, 45]],
      dom: [[95, 100]],
      script: [[55, 95]],
    },
  );
});

Deno.test("sumUpCriticalPath() adds up layers, the browser and services", () => {
  const tree = buildTree(trace(span("page", 0, 100, [
    span("fetch", 20, 60, [
      span("server", 30, 60, [
        span("query", 30, 40, [], { layer: "database" }),
        span("query", 40, 45, [], { layer: "database" }),
        span("stock", 45, 57, [], { attributes: { "service.name": "stock" } }),
      ], { layer: "request" }),
    ], browser),
  ], browser)));
  const { shares, spans } = sumUpCriticalPath(tree, criticalPath(tree));
  assertEquals(
    shares.map(({ name, time, longest }) => [name, time, longest.span.id]),
    [
      ["browser", 70, "page"],
      ["database", 15, "query"],
      ["stock", 12, "stock"],
      ["request", 3, "server"],
    ],
  );
  assertEquals(
    spans.slice(0, 3).map(({ node, time }) => [node.span.id, time]),
    [
      ["page", 60],
      ["stock", 12],
      ["fetch", 10],
    ],
  );
});
