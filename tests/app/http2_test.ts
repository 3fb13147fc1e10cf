import { connect } from "node:http2";
import { once } from "node:events";
import { assertEquals } from "@std/assert";
import { createApp } from "@quartet/kit/app";
import { createRevalidationHandler } from "@quartet/kit/data";

Deno.test("A body over HTTP/2, which need not say how long it is, is read no further than the limit", async () => {
  const handler = createRevalidationHandler("secret");
  const app = createApp({ routes: [{ path: "/", method: "POST", handler }] });
  const server = await app.serve({ port: 0, signals: false, onListen() {} });
  const client = connect(`http://127.0.0.1:${server.address.port}`);
  /** The status for a body of which no header says how long it is. */
  const post = async (body: string): Promise<number> => {
    const stream = client.request({
      ":method": "POST",
      ":path": "/",
      "content-type": "application/json",
      authorization: "Bearer secret",
    });
    const answered = once(stream, "response");
    stream.write(body);
    stream.end();
    const [headers] = await answered;
    stream.resume();
    await once(stream, "close");
    return headers[":status"];
  };
  try {
    assertEquals(await post('{"tags":["a"]}'), 200);
    assertEquals(await post('{"tags":["\ud800'), 400);
    assertEquals(await post(" ".repeat(70_000)), 413);
  } finally {
    client.close();
    await server.shutdown();
  }
});
