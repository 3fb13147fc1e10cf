import { assert, assertEquals, assertThrows } from "@std/assert";
import { insertTraceData } from "../../../trace/export/html.ts";
import { packTraces, unpackTraces } from "../../../trace/export/pack.ts";
import { makeTrace } from "./make_trace.ts";

const BEFORE = "<!DOCTYPE html><title>Traces</title>\n";
const AFTER = '\n<script id="viewer-code">"<\\/script>"</script>';
const PAGE = BEFORE +
  '<script type="application/json" id="trace-data" data-encoding="none"></script>' +
  AFTER;

/**
 * Returns the element's content as a browser parses it: up to the first end
 * tag.
 */
function blockOf(html: string): { encoding: string; text: string } {
  assert(html.startsWith(BEFORE));
  const [, encoding = "", rest = ""] =
    /^<script [^>]*data-encoding="(\w+)">([^]*)$/.exec(
      html.slice(BEFORE.length),
    ) ?? [];
  const end = rest.search(/<\/script/i);
  assertEquals(rest.slice(end), "</script>" + AFTER);
  return { encoding, text: rest.slice(0, end) };
}

Deno.test("insertTraceData() puts JSON into the page that no text in it can leave", () => {
  const values = [
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "-->]]>&lt;",
    "$& $1 $` $' $$ $<a>",
    "\u2028\u2029\u0000",
    "\ud800 and \udfff",
    "javascript:alert(1)",
    "🇫🇷",
  ];
  const text = JSON.stringify(values);
  const block = blockOf(insertTraceData(PAGE, { encoding: "json", text }));
  assertEquals(block.encoding, "json");
  assertEquals(JSON.parse(block.text), values);
  assertEquals(block.text.match(/[<>&\u2028\u2029]/), null);
});

Deno.test("insertTraceData() escapes lone surrogates, which files can't contain", () => {
  const text = '["\ud800"]';
  const html = insertTraceData(PAGE, { encoding: "json", text });
  const saved = new TextDecoder().decode(new TextEncoder().encode(html));
  assertEquals(JSON.parse(blockOf(saved).text), ["\ud800"]);
});

Deno.test("insertTraceData() puts packed text into the page unchanged", async () => {
  const trace = makeTrace([{ name: "</script>" }]);
  const text = await packTraces([trace]);
  const block = blockOf(insertTraceData(PAGE, { encoding: "packed", text }));
  assertEquals(block, { encoding: "packed", text });
  assertEquals((await unpackTraces(block.text)).trace(0), trace);
});

Deno.test("insertTraceData() replaces the traces of a page", () => {
  const first = insertTraceData(PAGE, { encoding: "json", text: '["<"]' });
  const second = insertTraceData(first, { encoding: "packed", text: "QQ==" });
  assertEquals(blockOf(second), { encoding: "packed", text: "QQ==" });
});

Deno.test("insertTraceData() rejects pages without exactly one place for traces", () => {
  const block = { encoding: "json", text: "[]" } as const;
  const cases: [string, string][] = [
    ["<html></html>", "received one with 0"],
    [PAGE + PAGE, "received one with 2"],
  ];
  for (const [page, message] of cases) {
    assertThrows(() => insertTraceData(page, block), TypeError, message);
  }
});

Deno.test("insertTraceData() rejects packed text that isn't base64", () => {
  assertThrows(
    () => insertTraceData(PAGE, { encoding: "packed", text: "</script>" }),
    TypeError,
    "packed text must be base64",
  );
});
