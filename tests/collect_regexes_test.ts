import { assertEquals } from "@std/assert";
import { readRegexes } from "../tools/regexes/collect.ts";
import { alternatives } from "../tools/regexes/alternatives.ts";

const found = (text: string) =>
  readRegexes("a.ts", text).map(({ regex, place }) =>
    regex === undefined ? place : `${regex}`
  );

Deno.test("collectRegexes() finds literals and constructor calls", () => {
  const table: [source: string, regexes: string[]][] = [
    ["text.replace(/a+/g, '')", ["/a+/g"]],
    ["const isA = (text) => /^a$/i.test(text)", ["/^a$/i"]],
    ["new RegExp('a+', 'g')", ["/a+/g"]],
    ["RegExp(`a+`)", ["/a+/"]],
    ["new globalThis.RegExp('a')", ["/a/"]],
    ["const N = 5; new RegExp(`a{1,${N}}`)", ["/a{1,5}/"]],
    ["const A = /a/; new RegExp(`${A.source}+`)", ["/a/", "/a+/"]],
    ["const A = 'a'; new RegExp(A + '+')", ["/a+/"]],
    ["new RegExp(String.raw`\\d`)", ["/\\d/"]],
    ["text.match('a+')", ["/a+/"]],
    ["text.search('a+')", ["/a+/"]],
    ["const A = /a/g; text.matchAll(A)", ["/a/g"]],
    ["// /a/\n'/a/'; 4 / 2 / 1", []],
    ["x instanceof RegExp; let a: RegExp; RegExp.escape(x)", []],
  ];
  for (const [source, regexes] of table) {
    assertEquals(found(source), regexes, source);
  }
});

Deno.test("collectRegexes() lists expressions built at run time by their place", () => {
  const table = [
    "new RegExp(pattern)",
    "let a = 'a'; new RegExp(a)",
    "new RegExp('a', flags)",
    "new RegExp(`a${b}`)",
    "text.match(pattern)",
    "const R = RegExp",
    "call(RegExp)",
  ];
  for (const source of table) assertEquals(found(source), ["a.ts:1"], source);
});

Deno.test("alternatives() splits a pattern outside its groups and classes", () => {
  const table: [source: string, parts: string[]][] = [
    ["a", ["a"]],
    ["a|b", ["a", "b"]],
    ["a|(?:b|c)|d", ["a", "(?:b|c)", "d"]],
    ["[|]|a\\|b", ["[|]", "a\\|b"]],
    ["[\\]|(]|a", ["[\\]|(]", "a"]],
    ["a|", ["a", ""]],
  ];
  for (const [source, parts] of table) {
    assertEquals(alternatives(source), parts, source);
  }
});
