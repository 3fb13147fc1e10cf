import { assert, assertEquals } from "@std/assert";
import { createApp } from "@quartet/kit/app";
import { createRouter, procedure, rpcPlugin } from "@quartet/kit/rpc";
import { z } from "zod";

const LIMIT = 100_000;
const CHUNK = new TextEncoder().encode(" ".repeat(10_000));
/** Chunks of the whole body, which would all be read without a limit. */
const CHUNKS = 1_000;

function createService() {
  const router = createRouter({
    echo: procedure.mutation(z.string(), ({ input }) => input),
  }, { maxBodySize: LIMIT });
  return createApp({ plugins: [rpcPlugin({ router })] });
}

/** Creates a body of many chunks that counts the chunks read. */
function createBody() {
  const cancelled = Promise.withResolvers<boolean>();
  const counted = {
    chunks: 0,
    cancelled: cancelled.promise,
    body: new ReadableStream<Uint8Array<ArrayBuffer>>({
      pull(controller) {
        if (counted.chunks++ < CHUNKS) return controller.enqueue(CHUNK);
        controller.close();
        cancelled.resolve(false);
      },
      cancel: () => cancelled.resolve(true),
    }),
  };
  return counted;
}

const JSON_TYPE = { "content-type": "application/json" };

for (
  const [what, headers, rewrap] of [
    ["a request created in code", {}, false],
    ["a copied request", {}, true],
    [
      "a decoded request that kept its headers",
      { "content-encoding": "gzip", "content-length": "100" },
      true,
    ],
  ] as const
) {
  Deno.test(`The body of ${what} is read up to the limit and no further`, async () => {
    await using app = createService();
    const counted = createBody();
    const request = new Request("http://localhost/api/rpc", {
      method: "POST",
      headers: { ...JSON_TYPE, ...headers },
      body: counted.body,
    });
    const response = await app.fetch(rewrap ? new Request(request) : request);
    assertEquals(response.status, 413);
    assertEquals(await counted.cancelled, true);
    assert(counted.chunks < 20, `${counted.chunks} chunks were read`);
  });
}

Deno.test("A chunked body over the limit is answered before it ends, also in a copied request", async () => {
  await using app = createService();
  await using server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {} },
    (request) => app.fetch(new Request(request)),
  );
  const url = `http://127.0.0.1:${server.addr.port}/api/rpc`;
  const post = (body: BodyInit) =>
    fetch(url, { method: "POST", headers: JSON_TYPE, body });
  let end = () => {};
  const refused = await post(
    new ReadableStream({
      start(controller) {
        for (let i = 0; i < 11; i++) controller.enqueue(CHUNK);
        end = () => controller.close();
      },
    }),
  );
  end();
  assertEquals(refused.status, 413);
  await refused.body?.cancel();

  const call = { path: ["echo"], type: "mutation", input: "é" };
  const bytes = new TextEncoder().encode(JSON.stringify(call));
  const taken = await post(ReadableStream.from([bytes]));
  assertEquals((await taken.json()).data, "é");
});

Deno.test("A handler may wrap the request with the limited body in a proxy", async () => {
  const app = createApp();
  app.route({
    path: "/",
    method: "POST",
    handler: async (request) => {
      const renamed = new Proxy(request, {
        get(target, key) {
          if (key === "method") return "PUT";
          const value = Reflect.get(target, key, target);
          return typeof value === "function" ? value.bind(target) : value;
        },
      });
      const text = await renamed.clone().text();
      return new Response(`${renamed.method} ${text}`);
    },
  });
  const request = new Request("http://localhost/", {
    method: "POST",
    body: new Blob(["hello"]).stream(),
  });
  const response = await app.fetch(request);
  assertEquals(await response.text(), "PUT hello");
});
