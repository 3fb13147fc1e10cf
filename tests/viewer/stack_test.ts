import { assertEquals } from "@std/assert";
import { pathOfPlace, readStack } from "../../viewer/model/stack.ts";

function placesOf(stack: string) {
  return readStack(stack).map(({ place, own }) =>
    own ? place : place && `(${place})`
  );
}

Deno.test("readStack() finds the places of V8", () => {
  assertEquals(
    placesOf(
      "Error: at no (place)\n" +
        "    at load (file:///shop/a b.ts:41:11)\n" +
        "    at async file:///shop/main.ts:64:5\n" +
        "    at Foo.<anonymous> [as bar] (http://localhost:8000/page.js:1:2)\n" +
        "    at file:///shop/main.ts:1:1\n" +
        "    at Promise.all (index 0)\n" +
        "    at handle (file:///shop/node_modules/x/y.js:1:2)\n" +
        "    at run (https://jsr.io/@quartet/kit/0.1.0/app/app.ts:2:3)\n" +
        "    at next (ext:core/01_core.js:1:2)\n" +
        "    at node:internal/process:1:2",
    ),
    [
      "",
      "file:///shop/a b.ts:41:11",
      "file:///shop/main.ts:64:5",
      "http://localhost:8000/page.js:1:2",
      "file:///shop/main.ts:1:1",
      "",
      "(file:///shop/node_modules/x/y.js:1:2)",
      "(https://jsr.io/@quartet/kit/0.1.0/app/app.ts:2:3)",
      "(ext:core/01_core.js:1:2)",
      "(node:internal/process:1:2)",
    ],
  );
});

Deno.test("readStack() finds the places of SpiderMonkey and JavaScriptCore", () => {
  assertEquals(
    placesOf(
      "load@http://localhost:8000/a.js:3:4\n" +
        "@http://localhost:8000/a.js:9:1\n" +
        "async*run@http://localhost:8000/@fs/b.js:5:6\n" +
        "global code@http://localhost:8000/c.js:7:8\n" +
        "map@[native code]",
    ),
    [
      "http://localhost:8000/a.js:3:4",
      "http://localhost:8000/a.js:9:1",
      "http://localhost:8000/@fs/b.js:5:6",
      "http://localhost:8000/c.js:7:8",
      "",
    ],
  );
});

Deno.test("readStack() keeps the text", () => {
  for (
    const text of [
      "",
      "no frame: 12",
      "    at (",
      "    at f (file:///a.ts:1:2)  ",
      "    at f (file:///a(1).ts:1:2)",
      "@",
      `${" at".repeat(50_000)}:1`,
      `${"(".repeat(50_000)}:1)`,
    ]
  ) {
    const lines = readStack(text);
    assertEquals(
      lines.map(({ before, place, after }) => before + place + after)
        .join("\n"),
      text,
    );
  }
});

Deno.test("pathOfPlace() returns the path of a file", () => {
  assertEquals(pathOfPlace("file:///shop/a%20b.ts:1:2"), "/shop/a b.ts:1:2");
  assertEquals(pathOfPlace("file:///C:/shop/a.ts:1:2"), "C:/shop/a.ts:1:2");
  assertEquals(pathOfPlace("file:///100%:1:2"), "/100%:1:2");
  assertEquals(
    pathOfPlace("http://a.example/b.js:1:2"),
    "http://a.example/b.js:1:2",
  );
});
