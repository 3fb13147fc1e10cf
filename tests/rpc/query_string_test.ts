import { assertEquals } from "@std/assert";
import { createRouter, procedure } from "@quartet/kit/rpc";
import { z } from "zod";
import { ask, serveRouter } from "./helpers.ts";

const router = createRouter({
  echo: procedure.query(z.unknown(), ({ input }) => ({ input })),
  "a b": procedure.query(() => "spaced"),
  "é%": procedure.query(() => "escaped"),
});

/** Returns the expected response, from the result of `URLSearchParams`. */
function expected(url: string): unknown {
  const parameters = new URL(url).searchParams;
  const path = parameters.get("path");
  if (path === null) return "PARSE_ERROR";
  const names: Record<string, string> = { "a b": "spaced", "é%": "escaped" };
  if (path !== "echo" && !Object.hasOwn(names, path)) return "NOT_FOUND";
  try {
    const text = parameters.get("input");
    const input = text === null ? {} : { input: JSON.parse(text) };
    return names[path] ?? input;
  } catch {
    return "PARSE_ERROR";
  }
}

async function answerTo(url: string): Promise<unknown> {
  const response = await router.handler(new Request(url));
  const { data, error } = await response.json();
  return error?.code ?? data;
}

Deno.test("path and input of a query string are parsed as by URLSearchParams", async () => {
  for (
    const query of [
      "",
      "?",
      "?&&&",
      "?path=echo",
      "?path=echo&input=1",
      "?input=1&path=echo",
      "?path=echo&input=1&input=2",
      "?path=echo&path=other",
      "?path=other&path=echo",
      "?path",
      "?path&path=echo",
      "?path=&path=echo",
      "?=path&path=echo",
      "?path=echo&input=",
      "?path=echo&input",
      "?path=echo&input=%7B%22a%22%3A%5B1%2C+2%5D%7D",
      "?path=echo&input=%22a+b%2Bc%20d%22",
      "?path=a+b",
      "?path=a%20b",
      "?path=%C3%A9%25",
      "?path=é%",
      "?path=%C3%A9%",
      "?path=echo&input=%22%C3%28%22",
      "?path=echo&input=%22%F0%9F%98%22",
      "?path=echo&input=%22%ED%A0%80%22",
      "?path=echo&input=%22%EF%BB%BF%22",
      "?path=echo&input=%EF%BB%BF1",
      "?path=echo&input=%22%zz%22",
      "?path=echo&input=%22%",
      "?path=echo&input=%2",
      "?%70ath=echo&input=1",
      "?p%61th=echo&%69nput=1",
      "?+path=echo&path=a+b",
      "?Path=echo&INPUT=1",
      "?path=echo&input=1&extra=%",
      "?ex%74ra=1&path=echo&input=1",
      "?path=echo;input=1",
      "?path=echo&input=1#input=2",
      "?path=echo#&input=1",
      "#?path=echo&input=1",
      "?a=1?path=echo&path=echo",
      "?path=echo?input=1",
      "?path=echo&input=%00",
      "?path=%65cho&input=%31",
      "?path=echo&input=a=b",
      '?path=echo&input="a=b"',
      "?xpath=echo",
      "?path=__proto__&input=1",
    ]
  ) {
    const url = `http://localhost/api/rpc${query}`;
    assertEquals(await answerTo(url), expected(url), query);
  }
});

Deno.test("path and input of random query strings are parsed as by URLSearchParams", async () => {
  const parts = [
    ...[
      "path",
      "input",
      "path=echo",
      "input=1",
      "echo",
      "other",
      "1",
      "%",
      "+",
    ],
    ...["=", "=", "&", "&", "&", "#", "?", "%70", "%61", "%25", "%2", "%zz"],
    ...[
      "%C3%A9",
      "%C3",
      "%F0%9F%98",
      "é",
      "%22",
      '"',
      " ",
      ";",
      "/",
      "\\",
      "a",
    ],
    ...[
      "path=a+b",
      "path=%C3%A9%25",
      "input=%22",
      "[",
      "]",
      "%00",
      "%EF%BB%BF",
    ],
  ];
  // Park and Miller, "Random number generators: good ones are hard to find".
  let seed = 20_261_121;
  const random = (below: number) =>
    (seed = seed * 48_271 % 2_147_483_647) % below;
  for (let i = 0; i < 5_000; i++) {
    let query = "?";
    for (let n = random(9); n >= 0; n--) query += parts[random(parts.length)];
    const url = `http://localhost/api/rpc${query}`;
    assertEquals(await answerTo(url), expected(url), query);
  }
});

Deno.test("A query string over the network is parsed the same", async () => {
  await using server = await serveRouter(router);
  const input = { text: 'a+b & "c" = ü #%', list: [1, null, { a: true }] };
  const { body } = await server.get("echo", input);
  assertEquals(body.data, { input });
  assertEquals((await server.get("a b")).body.data, "spaced");
  assertEquals((await server.get("é%")).body.data, "escaped");
});

Deno.test("A query without a path is rejected with an error that names it", async () => {
  const { status, body } = await ask(router, {}, "?input=1");
  assertEquals(status, 400);
  assertEquals(body.error, {
    code: "PARSE_ERROR",
    message: "The query parameter path is missing",
  });
});
