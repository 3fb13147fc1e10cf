import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { createRouter, procedure, type Transformer } from "@quartet/kit/rpc";
import * as devalue from "devalue";
import superjson from "superjson";
import { z } from "zod";
import {
  connect,
  errorLog,
  postOf,
  serveRouter,
  subscribe,
} from "./helpers.ts";

const log = errorLog();

interface Cyclic {
  name: string;
  self?: Cyclic;
}

function sample() {
  return {
    date: new Date(1_767_225_600_000),
    map: new Map<unknown, unknown>([["a", 1], [{ b: 2 }, new Set([1, 2])]]),
    set: new Set(["x", new Date(0)]),
    big: 12_345_678_901_234_567_890n,
    missing: undefined,
    nan: NaN,
    infinite: -Infinity,
    text: '"quotes" & <tags>   \u{1f600}',
    list: [1, undefined, null],
  };
}

const transformers: Record<string, Transformer> = {
  devalue,
  superjson,
};

for (const [name, transformer] of Object.entries(transformers)) {
  const router = createRouter({
    query: procedure.query(z.any(), ({ input }) => input),
    mutation: procedure.mutation(z.any(), ({ input }) => input),
    stream: procedure.subscription(z.any(), async function* ({ input }) {
      yield await Promise.resolve(input);
      yield sample();
    }),
    cycle: procedure.query(() => {
      const value: Cyclic = { name: "ring" };
      value.self = value;
      return value;
    }),
    nothing: procedure.query(() => {}),
    sized: procedure.query(z.object({ at: z.date() }), ({ input }) => input.at),
  }, { transformer, ...log });
  const text = transformer.stringify(sample());

  Deno.test(`With ${name}, values round-trip by GET, by POST and in batches`, async () => {
    await using server = await serveRouter(router);
    const query = new URLSearchParams({ path: "query", input: text });
    const { body } = await server.request({}, `?${query}`);
    assertEquals(transformer.parse(body.data), sample());

    const call = { path: ["mutation"], type: "mutation", input: text };
    const single = await server.post(call);
    assertEquals(transformer.parse(single.body.data), sample());
    const batch = await server.post({ batch: [call, call] });
    for (const { ok, data } of batch.body.data) {
      assert(ok);
      assertEquals(transformer.parse(data), sample());
    }
    const named = await server.request(
      postOf(JSON.stringify(text)),
      "/mutation",
    );
    assertEquals(transformer.parse(named.body.data), sample());
  });

  Deno.test(`With ${name}, values round-trip over a socket`, async () => {
    await using server = await serveRouter(router);
    await using client = await connect(server);
    client.send(subscribe("a", "stream", text));
    const [first, second] = await client.take(2);
    assertEquals(transformer.parse(first!.data), sample());
    assertEquals(transformer.parse(second!.data), sample());
    assertEquals((await client.next()).type, "complete");
  });

  Deno.test(`With ${name}, a circular value stays circular`, async () => {
    await using server = await serveRouter(router);
    const value = transformer.parse((await server.get("cycle")).body.data);
    assertStrictEquals((value as Cyclic).self, value);
  });

  Deno.test(`With ${name}, undefined is a value, schemas check decoded inputs, and errors stay plain JSON`, async () => {
    await using server = await serveRouter(router);
    const nothing = await server.get("nothing");
    assertStrictEquals(transformer.parse(nothing.body.data), undefined);
    const at = transformer.stringify({ at: new Date(5) });
    const sized = { path: ["sized"], type: "query", input: at };
    assertEquals(
      transformer.parse((await server.post(sized)).body.data),
      new Date(5),
    );
    const wrong = transformer.stringify({ at: "1970-01-01" });
    const refused = await server.post({ ...sized, input: wrong });
    assertEquals(refused.body.error.details, [{
      path: ["at"],
      message: "Invalid input: expected date, received string",
      code: "invalid_type",
    }]);
    // An omitted input needs no text.
    const none = await server.post({ path: ["sized"], type: "query" });
    assertEquals(none.body.error.code, "VALIDATION_ERROR");
  });

  Deno.test(`With ${name}, an input that isn't text of the transformer is a PARSE_ERROR`, async () => {
    await using server = await serveRouter(router);
    await using client = await connect(server);
    const message = "input must be text that the router's transformer can read";
    for (const input of ["", "{", "[[", "undefined", 5, null, {}, [1], true]) {
      const call = { path: ["query"], type: "query", input };
      const { status, body } = await server.post(call);
      assertEquals([status, body.error], [400, {
        code: "PARSE_ERROR",
        message,
      }], JSON.stringify(input));
      client.send(subscribe("a", "stream", input));
      const { id, error } = await client.next();
      assertEquals([id, error?.message], ["a", message]);
    }
    const get = await server.request({}, "?path=query&input=%7B");
    assertEquals(get.body.error, { code: "PARSE_ERROR", message });
  });

  Deno.test(`With ${name}, hostile text is harmless and changes no prototype`, async () => {
    await using server = await serveRouter(router);
    const own = Object.getOwnPropertyNames(Object.prototype).length;
    const texts = [
      '[{"__proto__":1},{"admin":2},true]',
      '[["Object","__proto__"]]',
      '[["null","__proto__",1],{"admin":2},true]',
      '[["RegExp","(((((a*)*)*)*)*)*$","g"]]',
      '[["BigInt","x"]]',
      '[["Date","x"]]',
      '[["Map",1,1,1]]',
      "[5]",
      "[[0]]",
      "-7",
      '[["constructor",1],1]',
      '{"json":{"a":1},"meta":{"values":{"__proto__.admin":["Date"]}}}',
      '{"json":{"a":1},"meta":{"values":{"constructor.prototype.admin":["Date"]}}}',
      '{"json":{},"meta":{"referentialEqualities":{"a":["__proto__.admin"]}}}',
      '{"json":{"a":"x"},"meta":{"values":{"a":[["class","Function"]]}}}',
      '{"json":{"a":"x"},"meta":{"values":{"a":["regexp"]}}}',
      '{"json":{"a":"x"},"meta":{"values":{"a":["bigint"]}}}',
      '{"json":1,"meta":5}',
      '{"json":{"a":[]},"meta":{"values":[[[[[[]]]]]]}}',
      "[".repeat(10_000) + "]".repeat(10_000),
    ];
    for (const input of texts) {
      const call = { path: ["query"], type: "query", input };
      const { status, body } = await server.post(call);
      assert([200, 400, 500].includes(status), input);
      assertEquals(status === 200, body.ok);
    }
    assertEquals(({} as { admin?: boolean }).admin, undefined);
    assertEquals(Object.getOwnPropertyNames(Object.prototype).length, own);
    assertEquals((await server.get("nothing")).status, 200);
  });
}

Deno.test("A value that a transformer can't encode is an INTERNAL_ERROR, over HTTP and sockets", async () => {
  const log = errorLog();
  const router = createRouter({
    query: procedure.query(() => () => "a function"),
    stream: procedure.subscription(async function* () {
      yield await Promise.resolve(() => "a function");
    }),
  }, { transformer: devalue, ...log });
  await using server = await serveRouter(router);
  await using client = await connect(server);
  const error = { code: "INTERNAL_ERROR", message: "Internal server error" };
  assertEquals((await server.get("query")).body.error, error);
  client.send(subscribe("a", "stream"));
  assertEquals(await client.next(), { type: "error", id: "a", error });
  assertEquals(log.logged.length, 2);
});
