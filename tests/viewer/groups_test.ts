import { assertEquals } from "@std/assert";
import { statementShape } from "../../trace/export/statement_shape.ts";
import { groupedUnits } from "../../viewer/model/rows.ts";
import { buildTree } from "../../viewer/model/tree.ts";
import { query, type Sketch, span, trace } from "./make_trace.ts";

function groupsOf(children: readonly Sketch[]) {
  const tree = buildTree(trace(span("root", 0, 1000, children)));
  return groupedUnits(tree.nodes[0]!.children)
    .flatMap(({ members }) => members.length > 1 ? [members] : [])
    .map((members) => [members[0]!.span.name, members.length] as const);
}

Deno.test("groupedUnits() groups the queries of a loop", () => {
  const loop = Array.from(
    { length: 24 },
    (_, i) => query(`SELECT * FROM users WHERE id = ${i}`, i, i + 1),
  );
  assertEquals(groupsOf(loop), [["db.query", 24]]);
});

Deno.test("groupedUnits() doesn't group two alternating queries", () => {
  const loop = Array.from(
    { length: 12 },
    (_, i) => query(`SELECT * FROM ${i % 2 ? "a" : "b"} LIMIT ${i}`, i, i + 1),
  );
  assertEquals(groupsOf(loop), [["db.query", 6], ["db.query", 6]]);
});

Deno.test("groupedUnits() doesn't group only two of a kind", () => {
  assertEquals(groupsOf([query("a", 0, 1), query("a", 1, 2)]), []);
});

Deno.test("groupedUnits() doesn't group spans that are far apart", () => {
  const others = Array.from({ length: 9 }, (_, i) => span(`x${i}`, 10 + i, 11));
  assertEquals(
    groupsOf([
      query("a", 0, 1),
      query("a", 1, 2),
      ...others,
      query("a", 30, 31),
    ]),
    [],
  );
});

Deno.test("groupedUnits() keeps layers apart", () => {
  const of = (layer: "rpc" | "data", at: number) =>
    span("same", at, at + 1, [], { layer });
  assertEquals(
    groupsOf([of("rpc", 0), of("data", 1), of("rpc", 2), of("data", 3)]),
    [],
  );
});

Deno.test("groupedUnits() doesn't group subscriptions, nor their sockets", () => {
  const attributes = { "app.detached": true };
  const of = (at: number) => span("rpc:prices", at, at + 1, [], { attributes });
  assertEquals(groupsOf([of(0), of(1), of(2)]), []);
  const socket = (at: number) => span("websocket", at, at + 1, [of(at)]);
  assertEquals(groupsOf([socket(0), socket(1), socket(2)]), []);
});

Deno.test("statementShape() replaces only literals and white space", () => {
  assertEquals(
    statementShape("SELECT a1 FROM t\n WHERE n = 'it''s' AND x = 4.5"),
    "SELECT a1 FROM t WHERE n = ? AND x = ?",
  );
  const numbered = "SELECT a FROM t WHERE n = $1 OR n = ?2 OR n = :3";
  assertEquals(statementShape(numbered), numbered);
});
