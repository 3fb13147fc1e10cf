/** Texts of a client's errors: each names the procedure and the URL. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { createApp } from "@quartet/kit/app";
import { createRouter, procedure, rpcPlugin } from "@quartet/kit/rpc";
import {
  batching,
  createClient,
  createHTTPClient,
  RPCClientError,
} from "@quartet/kit/rpc/client";
import { z } from "zod";
import { freePort } from "../helpers.ts";

const router = createRouter({
  posts: {
    list: procedure.query(z.string(), ({ input }) => [input]),
    create: procedure.mutation(
      z.object({ title: z.string("Required"), tags: z.array(z.string()) }),
      () => "created",
    ),
    changes: procedure.subscription(z.string(), async function* () {
      yield 1;
    }),
  },
});
type Api = typeof router;

async function errorOf(call: Promise<unknown>): Promise<RPCClientError> {
  return await assertRejects(() => call, RPCClientError);
}

Deno.test("A call to another URL of the server names its URL, the status and the likely cause", async () => {
  await using server = await createApp({ plugins: [rpcPlugin({ router })] })
    .serve({ port: 0, onListen() {} });
  const httpEndpoint = `http://127.0.0.1:${server.address.port}/rpc`;
  for (const create of [createClient<Api>, createHTTPClient<Api>]) {
    const error = await errorOf(create({ httpEndpoint }).posts.list.query("a"));
    assertEquals(
      error.message,
      `Cannot call posts.list at ${httpEndpoint}: 404, check httpEndpoint`,
    );
    assertEquals([error.code, error.url], ["BAD_RESPONSE", httpEndpoint]);
  }
});

Deno.test("A call to a server that is down names the procedure and the URL, also in a batch", async () => {
  const httpEndpoint = `http://127.0.0.1:${freePort()}/api/rpc`;
  for (const batch of [undefined, batching]) {
    const rpc = createClient<Api>({ httpEndpoint, ...batch && { batch } });
    const error = await errorOf(rpc.posts.list.query("a"));
    assertEquals(
      error.message,
      `Cannot call posts.list at ${httpEndpoint}: NETWORK_ERROR`,
    );
  }
});

Deno.test("Outside a page, the errors of a relative httpEndpoint say that it must be absolute", async () => {
  const rpc = createClient<Api>({ httpEndpoint: "/api/rpc" });
  const query = await errorOf(rpc.posts.list.query("a"));
  const subscription = await errorOf(rpc.posts.changes.subscribe("a").next());
  assertEquals(
    query.message,
    "Cannot call posts.list at /api/rpc: NETWORK_ERROR, httpEndpoint must be absolute",
  );
  assertEquals(
    subscription.message,
    "Cannot call posts.changes at /api/rpc: CONNECTION_LOST, httpEndpoint must be absolute",
  );
  assertEquals([query.url, subscription.url], ["/api/rpc", "/api/rpc"]);
});

Deno.test("In a page, the errors of a relative httpEndpoint name their code", async () => {
  const before: unknown = Reflect.get(globalThis, "location");
  Reflect.set(globalThis, "location", new URL("http://localhost/"));
  try {
    const fetch = () => Promise.reject(new TypeError("offline"));
    const rpc = createClient<Api>({ httpEndpoint: "/api/rpc", fetch });
    const error = await errorOf(rpc.posts.list.query("a"));
    assertEquals(
      error.message,
      "Cannot call posts.list at /api/rpc: NETWORK_ERROR",
    );
  } finally {
    Reflect.set(globalThis, "location", before);
  }
});

Deno.test("A client's errors hold no credentials, query or input", async () => {
  const fetch = () => Promise.reject(new TypeError("offline"));
  const shown = [
    [
      "http://ada:hunter2@api.example/rpc?key=hunter2",
      "http://api.example/rpc",
    ],
    ["https://hunter2@api.example?key=a@hunter2", "https://api.example/"],
    ["//ada:hunter2@api.example/rpc", "http://api.example/rpc"],
    ["/@scope/rpc?key=hunter2#hunter2", "/@scope/rpc"],
    ["api/rpc", "/api/rpc"],
  ] as const;
  for (const [httpEndpoint, url] of shown) {
    const rpc = createClient<Api>({
      httpEndpoint,
      fetch,
      webSocket() {
        throw new TypeError("offline");
      },
    });
    const call = await errorOf(rpc.posts.list.query("hunter2"));
    const subscription = await new Promise<RPCClientError>((resolve) => {
      const handlers = { onData() {}, onError: resolve };
      rpc.posts.changes.subscribe("hunter2", handlers);
    });
    for (const error of [call, subscription]) {
      assertEquals(error.url, url);
      assert(error.message.includes(` at ${url}: `), error.message);
      assert(!Deno.inspect(error).includes("hunter2"));
    }
  }
});

Deno.test("A failure from the server keeps the server's message, and has path and url", async () => {
  const rpc = createClient<Api>({
    httpEndpoint: "http://localhost/api/rpc",
    fetch: (url, init) => router.handler(new Request(url, init)),
  });
  const input = { tags: [1, 2] } as never;
  const error = await errorOf(rpc.posts.create.mutate(input));
  assertEquals(
    error.message,
    "Input validation failed for posts.create: title: Required (and 2 more)",
  );
  assertEquals(
    [error.code, error.path, error.url],
    ["VALIDATION_ERROR", "posts.create", "http://localhost/api/rpc"],
  );
  assertEquals((error.details as unknown[]).length, 3);
});

Deno.test("A call of the wrong kind names the method to use", async () => {
  // deno-lint-ignore no-explicit-any -- calls that the types forbid
  const rpc: any = createClient<Api>({
    httpEndpoint: "http://localhost/api/rpc",
    fetch: (url, init) => router.handler(new Request(url, init)),
  });
  const wrong: [call: () => Promise<unknown>, message: string][] = [
    [
      () => rpc.posts.list.mutate("a"),
      "Cannot call posts.list as a mutation: it is a query, use query()",
    ],
    [
      () => rpc.posts.create.query(),
      "Cannot call posts.create as a query: it is a mutation, use mutate()",
    ],
    [
      () => rpc.posts.changes.query("a"),
      "Cannot call posts.changes over HTTP: it is a subscription, use subscribe() and a WebSocket",
    ],
    [() => rpc.posts.lst.query(), "Procedure not found: posts.lst"],
    [
      async () => await rpc.posts.list("a"),
      "Cannot call posts.list: use query,mutate,subscribe",
    ],
  ];
  for (const [call, message] of wrong) {
    await assertRejects(call, Error, message);
  }
});

Deno.test("A socket at a router's handler is refused with the plugin to use", async () => {
  const response = await router.handler(
    new Request("http://localhost/api/rpc", {
      headers: { connection: "upgrade", upgrade: "websocket" },
    }),
  );
  assertEquals(await response.json(), {
    ok: false,
    error: {
      code: "PARSE_ERROR",
      message:
        "Cannot open a socket: handler() answers calls only, use rpcPlugin({ router }) or its handle()",
    },
  });
});

Deno.test("A validation message is bounded", async () => {
  const long = "x".repeat(1_000);
  const one = createRouter({
    one: procedure.query(z.string(long), ({ input }) => input),
  });
  const rpc = createClient<typeof one>({
    httpEndpoint: "http://localhost/api/rpc",
    fetch: (url, init) => one.handler(new Request(url, init)),
  });
  const error = await errorOf(rpc.one.query(1 as never));
  assertEquals(
    error.message,
    `Input validation failed for one: ${
      long.slice(0, 200)
    }… (800 more characters)`,
  );
});
