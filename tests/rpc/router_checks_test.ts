import { assertEquals, assertThrows } from "@std/assert";
import { createApp } from "@quartet/kit/app";
import {
  createCaller,
  createChannel,
  createOpenAPIDocument,
  createRouter,
  procedure,
  rateLimit,
  rpcPlugin,
} from "@quartet/kit/rpc";
import { createClient } from "@quartet/kit/rpc/client";
import * as devalue from "devalue";
import superjson from "superjson";
import { ask, queryOf } from "./helpers.ts";

const ping = procedure.query(() => "pong");

Deno.test("An app can have RPC at several endpoints, and each names its plugin", async () => {
  const plain = createRouter({ ping });
  const dated = createRouter(plain._def, { transformer: devalue });
  const plugins = [
    rpcPlugin({ router: plain }),
    rpcPlugin({ router: dated, endpoint: "/v2/rpc" }),
  ];
  assertEquals(plugins.map(({ name }) => name), ["rpc", "rpc /v2/rpc"]);
  const app = createApp({ plugins });
  const answers = ["/api/rpc", "/v2/rpc"].map(async (endpoint) => {
    const url = `http://localhost${endpoint}${queryOf("ping")}`;
    return (await (await app.fetch(new Request(url))).json()).data;
  });
  assertEquals(await Promise.all(answers), ["pong", '["pong"]']);
  await app.close();
  assertThrows(
    () => createApp({ plugins: [plugins[1]!, plugins[1]!] }),
    TypeError,
    'two plugins are called "rpc /v2/rpc"',
  );
});

Deno.test("An endpoint must be a path as in request URLs", () => {
  const router = createRouter({ ping });
  const info = { title: "API", version: "1" };
  for (
    const endpoint of [
      "",
      "/",
      "api",
      "/api/",
      "/a?b",
      "/a#b",
      "/{a}",
      "/a b",
      "/é",
      "/a/../b",
      5,
      null,
    ] as string[]
  ) {
    for (
      const [doing, create] of [
        ["RPC plugin", () => rpcPlugin({ router, endpoint })],
        [
          "OpenAPI document",
          () => createOpenAPIDocument(router, { ...info, endpoint }),
        ],
      ] as const
    ) {
      assertThrows(
        create,
        TypeError,
        `Cannot create ${doing}: endpoint must be a path such as "/api/rpc", without a slash at its end, received ${
          JSON.stringify(endpoint)
        }`,
      );
    }
  }
  for (const endpoint of ["/r", "/api/v1.0/rpc", "/a%20b", "//x"]) {
    assertEquals(rpcPlugin({ router, endpoint }).name, `rpc ${endpoint}`);
  }
});

Deno.test("Invalid routers, definitions and options are rejected by name", () => {
  const router = createRouter({ ping });
  // deno-lint-ignore no-explicit-any -- JavaScript may pass anything
  const wrong = undefined as any;
  const cases: readonly (readonly [() => unknown, string])[] = [
    [
      () => createRouter(wrong),
      "Cannot create router: def must be an object of procedures, received undefined",
    ],
    [
      () => createRouter([] as never),
      "Cannot create router: def must be an object of procedures",
    ],
    [
      () => createRouter({ ping }, null as never),
      "Cannot create router: options must be an object, received null",
    ],
    [
      () => rpcPlugin(wrong),
      "Cannot create RPC plugin: options must be an object, received undefined",
    ],
    [
      () => rpcPlugin({ router: wrong }),
      "Cannot create RPC plugin: router must be what createRouter() returns",
    ],
    [
      () => rpcPlugin({ router: { ...router, websocket: {} as never } }),
      "Cannot create RPC plugin: router must be what createRouter() returns, received an object",
    ],
    [
      () => createCaller(wrong),
      "Cannot create caller: router must be what createRouter() returns",
    ],
    [
      () => createOpenAPIDocument(wrong, wrong),
      "Cannot create OpenAPI document: router must be what createRouter() returns",
    ],
    [
      () => createOpenAPIDocument(router, wrong),
      "Cannot create OpenAPI document: options must be an object, received undefined",
    ],
    [
      () => rateLimit(wrong),
      "Cannot create rate limit: options must be an object, received undefined",
    ],
  ];
  for (const [run, message] of cases) assertThrows(run, TypeError, message);
});

Deno.test("Options of a wrong type are rejected where they are passed", () => {
  const router = createRouter({ ping });
  // deno-lint-ignore no-explicit-any -- JavaScript may pass anything
  const wrong = 1 as any;
  const cases: readonly (readonly [() => unknown, string])[] = [
    [
      () => createRouter({ ping }, { transformer: wrong }),
      "Cannot create router: transformer must be an object with stringify and parse, received 1",
    ],
    [
      () => createRouter({ ping }, { onError: wrong }),
      "Cannot create router: onError must be a function, received 1",
    ],
    [
      () => createCaller(router, {}, { signal: wrong }),
      "Cannot create caller: signal must be an AbortSignal, received 1",
    ],
    [
      () => createCaller(router, {}, { responseHeaders: wrong }),
      "Cannot create caller: responseHeaders must be a Headers object, received 1",
    ],
    [
      () => rateLimit({ limit: 1, windowMs: 1, key: wrong }),
      "Cannot create rate limit: key must be a function, received 1",
    ],
    [
      () => createChannel({ random: wrong }),
      "Cannot create channel: random must be a function, received 1",
    ],
    [
      () =>
        createOpenAPIDocument(router, {
          title: "A",
          version: "1",
          description: wrong,
        }),
      "Cannot create OpenAPI document: description must be a string, received 1",
    ],
  ];
  for (const [run, message] of cases) assertThrows(run, TypeError, message);
});

Deno.test("A name that a client's path can't contain is rejected, at any depth", async () => {
  const api = createRouter({ ping });
  const rpc = createClient<typeof api>({ httpEndpoint: "/api/rpc" });
  for (const name of ["then", "toJSON"]) {
    assertEquals((rpc as Record<string, unknown>)[name], undefined);
    for (const def of [{ [name]: ping }, { a: { [name]: { ping } } }]) {
      assertThrows(
        () => createRouter(def),
        TypeError,
        `"${name}" in ${"a" in def ? "a" : "the router"} can't be the name of`,
      );
    }
  }
  // Other names of properties of objects are allowed.
  const names = ["toString", "constructor", "catch", "query", "__proto__"];
  const def = Object.fromEntries(names.map((name) => [name, ping]));
  const caller = createCaller(createRouter(def));
  for (const name of names) {
    assertEquals(await caller[name]!.query(), "pong");
  }
});

Deno.test("A nested router has no transformer, or the same one", async () => {
  const plain = createRouter({ ping });
  const inner = createRouter({ ping }, { transformer: devalue });
  const message =
    "Cannot create router: a.b must have no transformer or the outer router's, received another one";
  for (const router of [inner, { ...inner }]) {
    const def = { a: { b: router } };
    assertThrows(() => createRouter(def), TypeError, message);
    assertThrows(
      () => createRouter(def, { transformer: superjson }),
      TypeError,
      message,
    );
    const same = createRouter({ ...def, plain }, { transformer: devalue });
    for (const path of ["a.b.ping", "plain.ping"]) {
      const { body } = await ask(same, {}, queryOf(path));
      assertEquals(body.data, '["pong"]');
    }
  }
});
