import { assert, assertEquals } from "@std/assert";
import {
  formatClock,
  formatDelta,
  formatDuration,
  formatMoment,
  formatPlural,
  formatShare,
  formatZone,
} from "../../viewer/model/format.ts";
import { formatSql } from "../../viewer/model/sql.ts";
import {
  cutText,
  splitAtMatches,
  splitIntoChunks,
} from "../../viewer/model/text.ts";

Deno.test("formatDuration() shows three digits in the unit that fits", () => {
  for (
    const [ms, text] of [
      [0, "0 ms"],
      [0.00042, "0.42 µs"],
      [0.0123, "12.3 µs"],
      [0.84, "840 µs"],
      [0.9996, "1.00 ms"],
      [1.234, "1.23 ms"],
      [9.996, "10.0 ms"],
      [12.34, "12.3 ms"],
      [99.96, "100 ms"],
      [999.4, "999 ms"],
      [999.6, "1.00 s"],
      [12_340, "12.3 s"],
      [59_994, "60.0 s"],
      [61_000, "1 min 1 s"],
      [3_661_000, "1 h 1 min"],
      [-1.5, "-1.50 ms"],
      [NaN, "–"],
      [Infinity, "–"],
    ] as const
  ) assertEquals(formatDuration(ms), text);
});

Deno.test("formatDelta() always shows a sign", () => {
  assertEquals(formatDelta(1.5), "+1.50 ms");
  assertEquals(formatDelta(-0.5), "−500 µs");
  assertEquals(formatDelta(0), "±0");
});

Deno.test("formatShare() never rounds a small share to zero", () => {
  assertEquals(formatShare(0), "0 %");
  assertEquals(formatShare(0.0001), "<0.1 %");
  assertEquals(formatShare(0.0345), "3.5 %");
  assertEquals(formatShare(0.5), "50 %");
});

Deno.test("formatPlural() chooses singular or plural", () => {
  assertEquals(formatPlural(1, "span"), "1 span");
  assertEquals(formatPlural(10_000, "span"), "10,000 spans");
});

Deno.test("formatClock() and formatMoment() show a time in its zone, or a dash", () => {
  const moment = Date.UTC(2026, 0, 31, 4, 5, 6, 7);
  assertEquals(formatClock(moment, "utc"), "04:05:06.007");
  assertEquals(formatMoment(moment, "utc"), "2026-01-31 04:05:06.007 UTC");
  for (const zone of ["utc", "local"] as const) {
    assertEquals(formatClock(NaN, zone), "–");
    assertEquals(formatMoment(1e300, zone), "–");
    assertEquals(formatZone(NaN, zone), "UTC");
  }
  const local = new Date(2026, 0, 31, 4, 5, 6, 7).getTime();
  assertEquals(formatClock(local, "local"), "04:05:06.007");
  assertEquals(
    formatMoment(local, "local"),
    `2026-01-31 04:05:06.007 ${formatZone(local, "local")}`,
  );
});

Deno.test("formatZone() shows the hours that a zone is ahead of UTC", async () => {
  const zones: Record<string, string> = {
    "Europe/Paris": "UTC+1",
    "Asia/Kathmandu": "UTC+5:45",
    "America/St_Johns": "UTC−3:30",
    "UTC": "UTC",
  };
  const module = new URL("../../viewer/model/format.ts", import.meta.url);
  const code = `import { formatZone } from "${module}";
    console.log(formatZone(Date.UTC(2026, 0, 31), "local"));`;
  for (const [TZ, expected] of Object.entries(zones)) {
    const { stdout } = await new Deno.Command(Deno.execPath(), {
      args: ["eval", code],
      env: { TZ },
    }).output();
    assertEquals(new TextDecoder().decode(stdout).trim(), expected);
  }
});

Deno.test("formatSql() breaks before clauses and keeps every word", () => {
  const sql = "SELECT a, b FROM t LEFT JOIN u ON t.id = u.id " +
    "WHERE x = 'FROM y' AND n > 10 ORDER BY a LIMIT 5";
  const tokens = formatSql(sql);
  const text = tokens.map((token) => token.text).join("");
  assertEquals(
    text,
    "SELECT a, b\nFROM t\nLEFT JOIN u ON t.id = u.id\nWHERE x = 'FROM y'\n" +
      "  AND n > 10\nORDER BY a\nLIMIT 5",
  );
  const kindOf = (word: string) =>
    tokens.find((token) => token.text.trim() === word)?.kind;
  assertEquals(kindOf("'FROM y'"), "string");
  assertEquals(kindOf("10"), "number");
  assertEquals(kindOf("LIMIT"), "keyword");
});

Deno.test("formatSql() leaves subqueries on their line", () => {
  const text = formatSql("SELECT (SELECT 1 FROM x) FROM t")
    .map((token) => token.text).join("");
  assertEquals(text, "SELECT (SELECT 1 FROM x)\nFROM t");
});

Deno.test("formatSql() keeps a statement's own line breaks", () => {
  const sql = "SELECT 1 -- one\n  FROM t";
  const text = formatSql(sql).map((token) => token.text).join("");
  assertEquals(text, sql);
});

Deno.test("formatSql() keeps all of a text that isn't SQL", () => {
  for (const odd of ["'open", "/* open", "💥\ud800", "", ")))((", "a\u2028b"]) {
    const text = formatSql(odd).map((token) => token.text).join("");
    assertEquals(text.replaceAll(/\s/g, ""), odd.replaceAll(/\s/g, ""));
  }
});

Deno.test("cutText() never splits a surrogate pair", () => {
  assertEquals(cutText("abc", 3), "abc");
  assertEquals(cutText("ab💥", 3), "ab");
  assertEquals(cutText("ab💥c", 4), "ab💥");
});

Deno.test("splitIntoChunks() loses nothing and splits at line ends if there are any", () => {
  const line = `${"💥".repeat(40)}\n`;
  for (
    const text of [
      "",
      "x".repeat(25_000),
      line.repeat(900),
      "a💥".repeat(9_999),
    ]
  ) {
    const chunks = splitIntoChunks(text);
    assertEquals(chunks.join(""), text);
    assert(chunks.every((chunk) => chunk.length <= 10_001));
    assert(chunks.every((chunk) => chunk.isWellFormed()));
  }
  assert(
    splitIntoChunks(line.repeat(900)).every((chunk) => chunk.endsWith("\n")),
  );
});

Deno.test("cutText() keeps lone surrogates inside the text", () => {
  assertEquals(cutText("a\udc00bc", 3), "a\udc00b");
});

Deno.test("splitAtMatches() returns the whole text", () => {
  const parts = splitAtMatches("A walnut, a Walnut", "walnut");
  assertEquals(parts.map((part) => part.text).join(""), "A walnut, a Walnut");
  assertEquals(parts.filter((part) => part.match).length, 2);
  assertEquals(splitAtMatches("İx", "x"), [{ text: "İx", match: false }]);
  const many = splitAtMatches("a".repeat(5000), "a");
  assert(many.length < 250);
  assertEquals(many.map((part) => part.text).join("").length, 5000);
});
