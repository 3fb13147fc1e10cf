/** Options that a client rejects when it is created. */

import { assertEquals, assertThrows } from "@std/assert";
import {
  type ClientOptions,
  createClient,
  createHTTPClient,
} from "@quartet/kit/rpc/client";
import { createRouter, procedure } from "@quartet/kit/rpc";

const api = createRouter({ ping: procedure.query(() => "pong") });

const FACTORIES = {
  createClient: (options?: unknown) =>
    createClient<typeof api>(options as ClientOptions),
  createHTTPClient: (options?: unknown) =>
    createHTTPClient<typeof api>(options as ClientOptions),
};

for (const [name, create] of Object.entries(FACTORIES)) {
  Deno.test(`${name}() refuses an invalid endpoint`, () => {
    const wrong: [options: unknown, received: string][] = [
      [undefined, "undefined"],
      [null, "undefined"],
      [{}, "undefined"],
      ["/api/rpc", "undefined"],
      [new URL("http://localhost/api/rpc"), "undefined"],
      [{ endpoint: "/api/rpc" }, "undefined"],
      [{ httpEndpoint: undefined }, "undefined"],
      [{ httpEndpoint: null }, "null"],
      [{ httpEndpoint: 8000 }, "8000"],
      [{ httpEndpoint: {} }, "[object Object]"],
      [{ httpEndpoint: "http://" }, "http://"],
      [{ httpEndpoint: "http://localhost:99999/" }, "http://localhost:99999/"],
      [{ httpEndpoint: "localhost:8000/rpc" }, "localhost:8000/rpc"],
      [{ httpEndpoint: "ws://localhost/rpc" }, "ws://localhost/rpc"],
      [{ httpEndpoint: new URL("ftp://a/") }, "ftp://a/"],
    ];
    for (const [options, received] of wrong) {
      assertEquals(
        assertThrows(() => create(options), TypeError).message,
        `Cannot create client: httpEndpoint must be a URL, received ${received}`,
      );
    }
  });

  Deno.test(`${name}() accepts absolute and relative URLs`, () => {
    // Must not throw for any of these.
    for (
      const httpEndpoint of [
        "http://localhost/api/rpc",
        "HTTPS://localhost",
        "/api/rpc",
        "/",
        "api/rpc?tenant=1",
        "//api.example/rpc",
        new URL("https://api.example/rpc"),
      ]
    ) create({ httpEndpoint });
  });

  Deno.test(`${name}() rejects an unknown option and lists the known ones`, () => {
    const known = "httpEndpoint,fetch,headers,batch,transformer";
    const all = name === "createClient"
      ? `${known},wsEndpoint,webSocket,reconnect,heartbeatMs`
      : known;
    const httpEndpoint = "/api/rpc";
    for (const key of ["fecth", "url", "toString", "__proto__"]) {
      const options = Object.defineProperty({ httpEndpoint }, key, {
        value: "x",
        enumerable: true,
      });
      assertThrows(
        () => create(options),
        TypeError,
        `Cannot create client: unknown option ${key}, known: ${all}`,
      );
    }
    create({
      httpEndpoint,
      fetch,
      headers: { a: "b" },
      batch: undefined,
      transformer: undefined,
    });
  });
}

Deno.test("createClient() also checks the options of reconnect", () => {
  const httpEndpoint = "/api/rpc";
  assertThrows(
    () => FACTORIES.createClient({ httpEndpoint, reconnect: { delays: 1 } }),
    TypeError,
    "Cannot create client: unknown option delays, known: attempts,delayMs,maxDelayMs",
  );
  const reconnect = { attempts: 1, delayMs: 1, maxDelayMs: 2 };
  FACTORIES.createClient({ httpEndpoint, wsEndpoint: "ws://a/", reconnect });
  FACTORIES.createClient({
    httpEndpoint,
    reconnect: false,
    heartbeatMs: false,
  });
});
