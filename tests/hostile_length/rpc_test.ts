import { createCaller, createRouter, procedure } from "@quartet/kit/rpc";
import { batching, createClient } from "@quartet/kit/rpc/client";
import { z } from "zod";
import { assertAllLinear, numbered, repeat, silently, TEXTS } from "./texts.ts";
import type { Text } from "./texts.ts";

const router = createRouter({
  ping: procedure.query(() => "pong"),
  checked: procedure.query(
    z.object({ name: z.string().max(10) }),
    ({ input }) => input,
  ),
  fails: procedure.query(({ input }) => {
    throw new Error(String(input));
  }),
  count: procedure.subscription(async function* () {
    yield await Promise.resolve(1);
  }),
});

const MESSAGES: readonly Text[] = [
  ...TEXTS,
  repeat("["),
  repeat('{"a":'),
  repeat("a", '{"type":"subscribe","id":"', '"}'),
  repeat("\\", '{"type":"subscribe","id":"', '"}'),
  repeat('"a",', '{"type":"subscribe","id":"1","path":[', '"a"]}'),
  repeat("a", '{"type":"subscribe","id":"1","path":["count"],"input":"', '"}'),
  repeat(
    "a",
    '{"type":"subscribe","id":"1","path":["count"],"lastEventId":"',
    '"}',
  ),
  repeat("a", '{"type":"', '"}'),
  (length) => `{${numbered((i) => `"key ${i}":${i},`)(length)}"a":1}`,
  (length) => "[".repeat(length / 2) + "]".repeat(length / 2),
];

Deno.test("A long message of a socket takes linear time", () =>
  silently(async () => {
    for (const form of ["text", "bytes"]) {
      await assertAllLinear(`a message in ${form}`, MESSAGES, async (text) => {
        const socket = {
          data: {
            subscriptions: new Map<string, AbortController>(),
            ctx: {},
          },
          readyState: 1,
          bufferedAmount: 0,
          send() {},
          close() {},
        };
        const { websocket } = router;
        websocket.open?.(socket);
        websocket.message(
          socket,
          form === "text" ? text : new TextEncoder().encode(text),
        );
        await Promise.resolve();
        websocket.close?.(socket, 1000, "");
      }, { lengths: [6_000, 60_000] });
    }
  }));

Deno.test("Long input and long errors of a procedure take linear time", () =>
  silently(async () => {
    const caller = createCaller(router, {});
    const calls = [
      (input: unknown) => caller.checked.query(input as { name: string }),
      (input: unknown) => caller.fails.query(input as never),
    ];
    for (const call of calls) {
      await assertAllLinear("input", TEXTS, async (text) => {
        for (const input of [text, { name: text }, { [text]: text }]) {
          await call(input).catch(() => {});
        }
      });
    }
  }));

Deno.test("A server's long answer takes the client linear time", async () => {
  const texts: Text[] = [
    ...MESSAGES,
    repeat("a", '{"ok":true,"data":"', '"}'),
    repeat("a", '{"ok":false,"error":{"code":"', '","message":"a"}}'),
    repeat("a", '{"ok":false,"error":{"code":"A","message":"', '"}}'),
    repeat('{"ok":true},', '{"ok":true,"data":[', '{"ok":true}]}'),
  ];
  let body = "";
  for (const batch of [undefined, batching]) {
    const client = createClient<typeof router>({
      httpEndpoint: "http://localhost/api/rpc",
      fetch: () => new Response(body),
      ...batch && { batch },
    });
    await assertAllLinear("an answer", texts, async (text) => {
      body = text;
      await Promise.allSettled([client.ping.query(), client.ping.query()]);
    });
  }
});
