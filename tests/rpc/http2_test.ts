import { once } from "node:events";
import { connect } from "node:http2";
import { assertEquals } from "@std/assert";
import { createRouter, procedure } from "@quartet/kit/rpc";
import { z } from "zod";
import { serveRouter } from "./helpers.ts";

Deno.test("A body over HTTP/2 without Content-Length is answered as soon as it exceeds the limit", async () => {
  const router = createRouter({
    echo: procedure.mutation(z.string(), ({ input }) => input),
  }, { maxBodySize: 10_000 });
  await using server = await serveRouter(router);
  const { origin, pathname } = new URL(server.url);
  const client = connect(origin);
  /** Sends a body without a length header. */
  const post = async (body: string, isAll: boolean) => {
    const stream = client.request({
      ":method": "POST",
      ":path": pathname,
      "content-type": "application/json",
    });
    stream.setEncoding("utf8");
    const answered = once(stream, "response");
    stream.write(body);
    if (isAll) stream.end();
    const [headers] = await answered;
    let text = "";
    for await (const part of stream) text += part;
    stream.close();
    return [headers[":status"], JSON.parse(text).data];
  };
  try {
    const call = { path: ["echo"], type: "mutation", input: "é" };
    assertEquals(await post(JSON.stringify(call), true), [200, "é"]);
    assertEquals(await post(" ".repeat(10_001), false), [413, undefined]);
  } finally {
    client.close();
  }
});
