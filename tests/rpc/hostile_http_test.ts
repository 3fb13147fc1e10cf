/** Hostile requests to a server over HTTP. */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { createRouter, procedure } from "@quartet/kit/rpc";
import { z } from "zod";
import { exchange } from "../helpers.ts";
import { ask, errorLog, postOf, serveRouter, writeAll } from "./helpers.ts";

const log = errorLog();
const router = createRouter({
  ping: procedure.query(() => "pong"),
  echo: procedure.query(z.unknown(), ({ input }) => ({ input })),
  keys: procedure.query(
    z.record(z.string(), z.unknown()),
    ({ input }) => Object.keys(input),
  ),
  nested: { ping: procedure.query(() => "nested pong") },
}, { ...log, maxBodySize: 10_000 });

/** Returns the code in the response to a body. */
async function codeOf(init: RequestInit): Promise<string> {
  const { status, body } = await ask(router, init);
  assert(status < 500, `${status}`);
  return body.error?.code ?? "ok";
}

const strange: string[][] = [
  ["__proto__"],
  ["__proto__", "ping"],
  ["constructor"],
  ["constructor", "constructor"],
  ["constructor", "prototype"],
  ["toString"],
  ["hasOwnProperty"],
  ["_def"],
  ["_def", "ping"],
  ["handler"],
  ["websocket", "message"],
  ["ping", "kind"],
  ["ping", "handler"],
  ["ping", "input"],
  ["ping", "middlewares"],
  ["ping", "handler", "constructor"],
  ["ping", "__proto__"],
  ["nested"],
  ["nested", "__proto__", "ping"],
  ["nested", "constructor"],
  ["nested.ping"],
  ["nested", "ping", ""],
  ["", "nested", "ping"],
  ["nested", "", "ping"],
  [""],
  [" ping"],
  ["PING"],
  ["ping\0"],
  ["size"],
  ["get"],
  ["then"],
  Array(10_000).fill("nested"),
  Array(10_000).fill(""),
  Array(3).fill("a".repeat(3_000)),
];

Deno.test("A path that leads anywhere but to a procedure is NOT_FOUND, by POST and by GET", async () => {
  const open = createRouter(router._def, { maxBodySize: 1_000_000 });
  for (const path of strange) {
    const name = JSON.stringify(path).slice(0, 50);
    const post = await ask(open, postOf({ path, type: "query" }));
    assertEquals([post.status, post.body.error.code], [404, "NOT_FOUND"], name);
    // By GET the keys are one string, so "nested.ping" is a valid path.
    if (path[0] === "nested.ping") continue;
    const query = new URLSearchParams({ path: path.join(".") });
    const get = await ask(open, {}, `?${query}`);
    assertEquals([get.status, get.body.error.code], [404, "NOT_FOUND"], name);
  }
  const empty = await ask(open, postOf({ path: [], type: "query" }));
  assertEquals(empty.body.error.code, "NOT_FOUND");
  const found = await ask(
    open,
    postOf({ path: ["nested", "ping"], type: "query" }),
  );
  assertEquals(found.body.data, "nested pong");
});

Deno.test("A body of the wrong shape is a PARSE_ERROR that names the expected shape", async () => {
  const table: [body: string, message: string][] = [
    ["", "The body is not valid JSON"],
    ["undefined", "The body is not valid JSON"],
    ["{'path':1}", "The body is not valid JSON"],
    ['{"path":["ping"],"type":"query"', "The body is not valid JSON"],
    ["null", "The body must be an object, received null"],
    ["[]", "The body must be an object, received an array"],
    ["5", "The body must be an object, received a number"],
    ['"ping"', "The body must be an object, received a string"],
    ["true", "The body must be an object, received a boolean"],
    ["{}", "path must be an array of strings, received nothing"],
    ['{"path":null}', "path must be an array of strings, received null"],
    ['{"path":"ping"}', "path must be an array of strings, received a string"],
    [
      '{"path":{"0":"ping","length":1}}',
      "path must be an array of strings, received an object",
    ],
    ['{"path":[["ping"]]}', "path must hold strings only, received an array"],
    ['{"path":[null]}', "path must hold strings only, received null"],
    ['{"path":[0]}', "path must hold strings only, received a number"],
    [
      '{"path":["ping"]}',
      'type must be "query" or "mutation", received nothing',
    ],
    [
      '{"path":["ping"],"type":1}',
      'type must be "query" or "mutation", received a number',
    ],
    [
      '{"path":["ping"],"type":"subscription"}',
      'type must be "query" or "mutation", received another string',
    ],
    [
      '{"path":["ping"],"type":"constructor"}',
      'type must be "query" or "mutation", received another string',
    ],
    [
      '{"__proto__":{"path":["ping"],"type":"query"}}',
      "path must be an array of strings, received nothing",
    ],
    ['{"batch":null}', "batch must be an array of calls, received null"],
  ];
  for (const [text, message] of table) {
    const { status, body } = await ask(router, postOf(text));
    assertEquals([status, body], [400, {
      ok: false,
      error: { code: "PARSE_ERROR", message },
    }], text);
  }
});

Deno.test("An input can't change prototypes: __proto__ is a normal key", async () => {
  const { text } = await ask(
    router,
    postOf(
      '{"path":["echo"],"type":"query","input":{"__proto__":{"admin":true},"a":1}}',
    ),
  );
  assertEquals(
    text,
    '{"ok":true,"data":{"input":{"__proto__":{"admin":true},"a":1}}}',
  );
  await ask(
    router,
    postOf(
      '{"path":["keys"],"type":"query","input":{"__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}}}}',
    ),
  );
  assertEquals(({} as { admin?: boolean }).admin, undefined);
});

Deno.test("The last of duplicate keys counts, as usual in JSON", async () => {
  const { body } = await ask(
    router,
    postOf('{"path":["no"],"path":["ping"],"type":"mutation","type":"query"}'),
  );
  assertEquals(body.data, "pong");
});

Deno.test("An input may be nested as deeply as the body limit allows", async () => {
  const open = createRouter(router._def, { ...log, maxBodySize: 1_000_000 });
  const send = (depth: number) => {
    const input = "[".repeat(depth) + "]".repeat(depth);
    return ask(
      open,
      postOf(`{"path":["echo"],"type":"query","input":${input}}`),
    );
  };
  assertEquals((await send(100)).status, 200);
  assertEquals((await send(100_000)).status, 200);
  const schema = z.lazy((): z.ZodType => z.array(schema));
  const recursive = createRouter({
    echo: procedure.query(schema, () => "fine"),
  }, { ...log, maxBodySize: 1_000_000 });
  const input = "[".repeat(100_000) + "]".repeat(100_000);
  const { body } = await ask(
    recursive,
    postOf(`{"path":["echo"],"type":"query","input":${input}}`),
  );
  assertEquals([body.error.code, body.error.details], ["VALIDATION_ERROR", [
    { message: "The value is nested too deeply" },
  ]]);
  assertEquals((await send(1)).status, 200);
});

Deno.test("A body must be declared as JSON in UTF-8", async () => {
  const body = '{"path":["ping"],"type":"query"}';
  const send = (type: string | undefined) =>
    codeOf({
      method: "POST",
      // A Blob without a type sends no Content-Type.
      body: type === undefined ? new Blob([body]) : body,
      ...(type === undefined ? {} : { headers: { "content-type": type } }),
    });
  for (
    const type of [
      "application/json",
      "application/json; charset=utf-8",
      "Application/JSON;charset=UTF-8",
      'application/json; charset="utf-8"',
      "application/json;",
    ]
  ) assertEquals(await send(type), "ok", type);
  for (
    const type of [
      undefined,
      "",
      "text/plain",
      "text/plain; application/json",
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=application/json",
      "application/json; charset=utf-16",
      "application/json; charset=latin1",
      "application/jsonp",
      "application/json-seq",
      "text/json",
      "text/plain, application/json",
      "application/json, text/plain",
      `application/json${" ".repeat(2_000_000)}x`,
      `application/json;${" ".repeat(2_000_000)}charset`,
    ]
  ) assertEquals(await send(type), "PARSE_ERROR", type?.slice(0, 60));
});

Deno.test("A body in another encoding than UTF-8 is a PARSE_ERROR, even if declared as UTF-8", async () => {
  await using server = await serveRouter(router);
  const text = '{"path":["echo"],"type":"query","input":"é"}';
  const utf8 = new TextEncoder().encode(text);
  const cut = (at: number, ...bytes: number[]) => {
    const quote = utf8.length - 2;
    return new Uint8Array([
      ...utf8.subarray(0, quote - at),
      ...bytes,
      ...utf8.subarray(quote),
    ]);
  };
  const utf16 = new Uint8Array(
    new Uint16Array(
      [...text].map((char) => char.charCodeAt(0)),
    ).buffer,
  );
  const gzip = await new Response(
    new Blob([utf8]).stream().pipeThrough(new CompressionStream("gzip")),
  ).bytes();
  const bodies: Record<string, Uint8Array<ArrayBuffer>> = {
    "UTF-16": utf16,
    "UTF-16 with a mark": new Uint8Array([0xff, 0xfe, ...utf16]),
    "Latin 1": cut(2, 0xe9),
    "the first three bytes of four": cut(2, 0xf0, 0x9f, 0x98),
    "half a surrogate pair": cut(2, 0xed, 0xa0, 0x80),
    "an overlong slash": cut(2, 0xc0, 0xaf),
    "gzip": gzip,
  };
  for (const [what, body] of Object.entries(bodies)) {
    for (const chunked of [false, true]) {
      const answer = await server.request({
        method: "POST",
        headers: { "content-type": "application/json" },
        body: chunked ? new Blob([body]).stream() : body,
      });
      assertEquals(answer.status, 400, what);
      assertEquals(answer.body.error.code, "PARSE_ERROR", what);
    }
  }
  // UTF-8 is accepted, including the replacement character.
  for (const chunked of [false, true]) {
    const bytes = new TextEncoder().encode(
      text.replace("é", "é\u{1f600}\ufffd"),
    );
    const { body } = await server.request({
      method: "POST",
      headers: { "content-type": "application/json" },
      body: chunked ? new Blob([bytes]).stream() : bytes,
    });
    assertEquals(body.data, { input: "é\u{1f600}\ufffd" });
  }
});

/** Returns a body of this size, most of it in the input. */
function bodyOf(size: number, char = "a"): string {
  const head = '{"path":["echo"],"type":"query","input":"';
  const width = new TextEncoder().encode(char).length;
  return `${head}${char.repeat(Math.ceil((size - head.length - 2) / width))}"}`;
}

Deno.test("A body may have at most the limit's size in bytes, with and without Content-Length", async () => {
  await using server = await serveRouter(router);
  for (const char of ["a", "é", "\u{1f600}"]) {
    const fitting = bodyOf(9_990, char);
    const long = bodyOf(10_001, char);
    for (
      const send of [
        (body: string) => server.post(body),
        (body: string) =>
          server.request({ ...postOf(""), body: new Blob([body]).stream() }),
        (body: string) => ask(router, postOf(body)),
        (body: string) =>
          ask(router, { ...postOf(""), body: new Blob([body]).stream() }),
      ]
    ) {
      assertEquals((await send(fitting)).status, 200, char);
      const { status, body } = await send(long);
      assertEquals(status, 413, char);
      assertEquals(body.error, {
        code: "PAYLOAD_TOO_LARGE",
        message: "The body must be at most 10000 bytes",
      });
    }
  }
});

Deno.test("The default body limit is 1 MiB", async () => {
  const router = createRouter({
    echo: procedure.query(z.string(), ({ input }) => input.length),
  });
  assertEquals((await ask(router, postOf(bodyOf(1_048_576)))).status, 200);
  assertEquals((await ask(router, postOf(bodyOf(1_048_577)))).status, 413);
});

Deno.test("A duplicate Content-Length is ignored, and the limit still applies", async () => {
  let sent = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      sent += 1024;
      if (sent > 4 * 1_048_576) controller.close();
      else controller.enqueue(new Uint8Array(1024).fill(97));
    },
  });
  const request = new Request("http://localhost/api/rpc", {
    method: "POST",
    headers: {
      "content-type": "application/json",
      // Deno joins two lines of one header like this.
      "content-length": "4194304, 4194304",
    },
    body,
  });
  assertEquals((await ask(router, request)).status, 413);
  assert(sent < 64 * 1024, `${sent} bytes were read`);
});

const HEAD = "POST /api/rpc HTTP/1.1\r\nHost: localhost\r\n" +
  "Content-Type: application/json\r\nConnection: close\r\n";

Deno.test("An endless body is answered as soon as it exceeds the limit", async () => {
  await using server = await serveRouter(router);
  using connection = await Deno.connect({
    hostname: "127.0.0.1",
    port: server.port,
  });
  const encoder = new TextEncoder();
  await writeAll(
    connection,
    encoder.encode(`${HEAD}Transfer-Encoding: chunked\r\n\r\n`),
  );
  const chunk = encoder.encode(`400\r\n${"a".repeat(1024)}\r\n`);
  let answer = "";
  const answered = (async () => {
    const buffer = new Uint8Array(4096);
    const size = await connection.read(buffer);
    answer = new TextDecoder().decode(buffer.subarray(0, size ?? 0));
  })();
  let sent = 0;
  try {
    while (answer === "") {
      await writeAll(connection, chunk);
      sent += 1024;
      await new Promise((resolve) => setTimeout(resolve));
    }
  } catch {
    // The server has closed the connection. Its response is on the way.
  }
  await answered;
  assertMatch(answer, /^HTTP\/1.1 413 /);
  assert(sent > 10_000);
});

Deno.test("An incomplete body only fails its own call", async () => {
  let calls = 0;
  const router = createRouter({
    count: procedure.mutation(z.unknown(), () => ++calls),
  });
  const failed: unknown[] = [];
  await using server = await serveRouter(router, {}, {
    onError: (error) => failed.push(error),
  });
  const body = '{"path":["count"],"type":"mutation"}';
  for (
    const [framing, sent] of [
      [`Content-Length: ${body.length + 10}\r\n\r\n`, body],
      [`Content-Length: ${body.length}\r\n\r\n`, body.slice(0, -5)],
      ["Transfer-Encoding: chunked\r\n\r\n", `24\r\n${body}\r\n`],
      ["Transfer-Encoding: chunked\r\n\r\n", "zz\r\n"],
    ] as const
  ) {
    const connection = await Deno.connect({
      hostname: "127.0.0.1",
      port: server.port,
    });
    await writeAll(
      connection,
      new TextEncoder().encode(`${HEAD}${framing}${sent}`),
    );
    await connection.closeWrite();
    const buffer = new Uint8Array(1024);
    await connection.read(buffer).catch(() => null);
    connection.close();
  }
  assertEquals((await server.post(body)).body.data, 1);
  assertEquals(failed, []);
});

Deno.test("A request with conflicting lengths reaches no procedure", async () => {
  let calls = 0;
  const router = createRouter({ count: procedure.mutation(() => ++calls) });
  await using server = await serveRouter(router);
  const body = '{"path":["count"],"type":"mutation"}';
  const chunked = `24\r\n${body}\r\n0\r\n\r\n`;
  for (
    const framing of [
      "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
      "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
      "Content-Length: 5\r\nContent-Length: 36\r\n",
    ]
  ) {
    const answer = await exchange(
      server.port,
      `${HEAD}${framing}\r\n${chunked}`,
    );
    assertMatch(answer, /^HTTP\/1.1 400 /);
  }
  assertEquals(calls, 0);
});

Deno.test("TRACE is rejected like other methods", async () => {
  await using server = await serveRouter(router);
  const answer = await exchange(
    server.port,
    "TRACE /api/rpc?path=ping HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
  );
  assertMatch(answer, /^HTTP\/1.1 405 /);
  assertMatch(answer, /allow: GET, HEAD, POST\r\n/i);
});
