/** How a client handles broken servers, inputs and handlers. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  type ClientOptions,
  createClient,
  RPCClientError,
} from "@quartet/kit/rpc/client";
import { createRouter, procedure } from "@quartet/kit/rpc";
import { z } from "zod";
import { serveRouter } from "./helpers.ts";

const api = createRouter({
  x: procedure.subscription(z.any(), async function* () {
    yield 1;
  }),
});

const queries = createRouter({ x: procedure.query(() => 1) });

/** Starts a server that answers each subscription with these messages. */
function serveMessages(...messages: (string | Uint8Array<ArrayBuffer>)[]) {
  return Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    (request) => {
      const { socket, response } = Deno.upgradeWebSocket(request);
      socket.onmessage = ({ data }) => {
        if (JSON.parse(data).type !== "subscribe") return;
        for (const message of messages) socket.send(message);
      };
      return response;
    },
  );
}

/** Returns the error of a subscription. */
async function failureOf(
  options: ClientOptions,
  input: unknown = 1,
): Promise<Error> {
  const rpc = createClient<typeof api>(options);
  return await assertRejects(async () => {
    for await (const _ of rpc.x.subscribe(input)) { /* none comes */ }
  }, Error);
}

for (const garbage of ["<html>", "null", "{}", "5", new Uint8Array([1])]) {
  Deno.test(`A connection that sends ${garbage} is closed as lost`, async () => {
    await using server = serveMessages(garbage);
    const failure = await failureOf({
      httpEndpoint: `http://127.0.0.1:${server.addr.port}/`,
      reconnect: { attempts: 2, delayMs: 1 },
    }) as RPCClientError;
    assertEquals(failure.code, "CONNECTION_LOST");
  });
}

Deno.test("Unknown messages are ignored, and an error message without error is BAD_RESPONSE", async () => {
  await using server = serveMessages(
    '{"type":"notice","id":"1"}',
    '{"type":"error","id":"1"}',
  );
  const failure = await failureOf({
    httpEndpoint: `http://127.0.0.1:${server.addr.port}/`,
  }) as RPCClientError;
  assertEquals([failure.code, failure.path], ["BAD_RESPONSE", "x"]);
});

Deno.test("An error whose message isn't a string fails like any other, on a socket and over HTTP", async () => {
  const failure =
    '"error":{"code":"NOT_FOUND","message":{"toString":1},"details":[2]}';
  await using server = serveMessages(`{"type":"error","id":"1",${failure}}`);
  const httpEndpoint = `http://127.0.0.1:${server.addr.port}/`;
  const rpc = createClient<typeof queries>({
    httpEndpoint,
    fetch: () => new Response(`{"ok":false,${failure}}`, { status: 404 }),
  });
  for (
    const [error, status] of [
      [await failureOf({ httpEndpoint }), 0],
      [await assertRejects(() => rpc.x.query()), 404],
    ] as const
  ) {
    assert(error instanceof RPCClientError, `${error}`);
    assertEquals({ ...error }, {
      ...{ name: "RPCClientError", code: "NOT_FOUND", path: "x" },
      ...{ status, details: [2], url: httpEndpoint },
    });
    assertEquals(
      error.message,
      `Cannot call x at ${httpEndpoint}: ${
        status ? "404, check httpEndpoint" : "NOT_FOUND"
      }`,
    );
  }
});

Deno.test("A value that can't be decoded ends its subscription", async () => {
  await using server = serveMessages('{"type":"data","id":"1","data":"{"}');
  const failure = await failureOf({
    httpEndpoint: `http://127.0.0.1:${server.addr.port}/`,
    transformer: JSON,
  } as ClientOptions) as RPCClientError;
  assertEquals(failure.code, "BAD_RESPONSE");
});

Deno.test("A subscription with input that can't be encoded fails with INVALID_INPUT", async () => {
  const failure = await failureOf({ httpEndpoint: "http://127.0.0.1:9/" }, 1n);
  assert(failure instanceof RPCClientError);
  assertEquals([failure.code, failure.path], ["INVALID_INPUT", "x"]);
  assertEquals(
    failure.message,
    "Cannot call x at http://127.0.0.1:9/: INVALID_INPUT",
  );
  assert(failure.cause instanceof TypeError);
});

Deno.test("onError isn't called after unsubscribing, even if the input can't be sent", async () => {
  const rpc = createClient<typeof api>({ httpEndpoint: "http://127.0.0.1:9/" });
  const received: RPCClientError[] = [];
  const subscribe = () =>
    rpc.x.subscribe(1n, {
      onData() {},
      onError: (error) => received.push(error),
    });
  subscribe()();
  const kept = subscribe();
  await new Promise((resolve) => setTimeout(resolve));
  assertEquals(received.map(({ code }) => code), ["INVALID_INPUT"]);
  kept();
});

Deno.test("An error thrown by a handler when the connection is lost is reported, and other handlers are still called", async () => {
  const uncaught: unknown[] = [];
  const listen = (event: ErrorEvent) => {
    event.preventDefault();
    uncaught.push(event.error);
  };
  addEventListener("error", listen);
  const rpc = createClient<typeof api>({
    httpEndpoint: "http://localhost",
    wsEndpoint: "not a url",
  });
  const bug = new Error("a bug in a handler");
  const lost = await new Promise<RPCClientError>((resolve) => {
    rpc.x.subscribe(1, {
      onData() {},
      onError() {
        throw bug;
      },
    });
    rpc.x.subscribe(2, { onData() {}, onError: resolve });
  });
  removeEventListener("error", listen);
  assertEquals(lost.code, "CONNECTION_LOST");
  assertEquals(uncaught, [bug]);
});

Deno.test("subscribe() in onError, when the connection is lost, starts another subscription", async () => {
  await using server = serveMessages('{"type":"data","id":"3","data":"new"}');
  let attempts = 0;
  const rpc = createClient<typeof api>({
    httpEndpoint: `http://127.0.0.1:${server.addr.port}/`,
    wsEndpoint: () =>
      attempts++ === 0 ? "not a url" : `ws://127.0.0.1:${server.addr.port}/`,
  });
  const seen = await new Promise<unknown[]>((resolve) => {
    const seen: unknown[] = [];
    rpc.x.subscribe(1, {
      onData() {},
      onError() {
        const stop = rpc.x.subscribe(3, {
          onData(value) {
            stop();
            resolve([...seen, value]);
          },
        });
      },
    });
    rpc.x.subscribe(2, {
      onData() {},
      onError: (error) => seen.push(error.code),
    });
  });
  assertEquals(seen, ["CONNECTION_LOST", "new"]);
});

Deno.test("An endpoint that isn't a URL fails at once", async () => {
  for (const options of [{}, { wsEndpoint: "not a url" }]) {
    const failure = await failureOf({ httpEndpoint: "/api", ...options });
    assertEquals((failure as RPCClientError).code, "CONNECTION_LOST");
  }
});

Deno.test("A waiting iterator ends when throw() is called", async () => {
  await using server = serveMessages();
  const rpc = createClient<typeof api>({
    httpEndpoint: `http://127.0.0.1:${server.addr.port}/`,
  });
  const iterator = rpc.x.subscribe(1);
  const waiting = iterator.next();
  await assertRejects(
    () => iterator.throw!(new Error("enough")),
    Error,
    "enough",
  );
  assertEquals((await waiting).done, true);
});

Deno.test("An error of onData is uncaught, and the subscription goes on", async () => {
  const twice = createRouter({
    x: procedure.subscription(z.any(), async function* () {
      yield 1;
      yield 2;
    }),
  });
  await using server = await serveRouter(twice);
  const uncaught: unknown[] = [];
  const listen = (event: ErrorEvent) => {
    event.preventDefault();
    uncaught.push(event.error);
  };
  addEventListener("error", listen);
  const rpc = createClient<typeof twice>({ httpEndpoint: server.url });
  const bug = new Error("a bug in a handler");
  const seen: unknown[] = [];
  await new Promise<void>((resolve, reject) => {
    rpc.x.subscribe(1, {
      onData(value) {
        seen.push(value);
        if (seen.length === 1) throw bug;
      },
      onError: reject,
      onComplete: resolve,
    });
  });
  removeEventListener("error", listen);
  assertEquals([seen, uncaught], [[1, 2], [bug]]);
});
