import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  createCaller,
  createChannel,
  createRouter,
  errors,
  procedure,
  tracked,
} from "@quartet/kit/rpc";
import { z } from "zod";
import { until } from "./helpers.ts";

const ended: string[] = [];
const channel = createChannel<string>();
const router = createRouter({
  now: procedure.query(() => 1),
  count: procedure.subscription(
    z.number(),
    async function* ({ input, lastEventId }) {
      try {
        const from = lastEventId === undefined ? 0 : Number(lastEventId) + 1;
        for (let n = from; n < input; n++) yield tracked(`${n}`, n);
      } finally {
        ended.push("count");
      }
    },
  ),
  fails: procedure.subscription(async function* () {
    yield 1;
    throw errors.forbidden("enough");
  }),
  news: procedure.subscription(({ signal }) => channel.subscribe(signal)),
});
const caller = createCaller(router);

/** Returns handlers that record their calls, and a promise for the end. */
function recordingHandlers() {
  const calls: unknown[] = [];
  const over = Promise.withResolvers<void>();
  return {
    calls,
    over: over.promise,
    handlers: {
      onData: (value: unknown) => void calls.push(value),
      onError(error: Error) {
        calls.push(error);
        over.resolve();
      },
      onComplete() {
        calls.push("complete");
        over.resolve();
      },
    },
  };
}

Deno.test("A caller's subscribe() passes values to onData, starting after lastEventId", async () => {
  ended.length = 0;
  const { calls, over, handlers } = recordingHandlers();
  caller.count.subscribe(5, { ...handlers, lastEventId: "2" });
  // subscribe() returns before the first value arrives.
  assertEquals(calls, []);
  await over;
  assertEquals(calls, [3, 4, "complete"]);
  assertEquals(ended, ["count"]);
});

Deno.test("A caller's subscribe() reports an error to onError once, asynchronously", async () => {
  const { calls, over, handlers } = recordingHandlers();
  caller.fails.subscribe(undefined, handlers);
  await over;
  assertEquals(calls.map(String), ["1", "RPCError: enough"]);

  const call = caller as unknown as Record<string, typeof caller.fails>;
  for (
    const [path, message] of [
      ["missing", "RPCError: Procedure not found: missing"],
      [
        "now",
        "TypeError: Cannot call now as a subscription: it is a query, use query()",
      ],
    ] as const
  ) {
    const { calls, over, handlers } = recordingHandlers();
    call[path]!.subscribe(undefined, handlers);
    assertEquals(calls, []);
    await over;
    assertEquals(calls.map(String), [message]);
  }
});

Deno.test("Unsubscribing a caller's subscription ends it, even while it waits", async () => {
  const { calls, handlers } = recordingHandlers();
  const unsubscribe = caller.news.subscribe(undefined, handlers);
  await until(() => channel.subscribers === 1);
  await channel.publish("one");
  await until(() => calls.length === 1);
  unsubscribe();
  unsubscribe();
  await until(() => channel.subscribers === 0);
  await channel.publish("two");
  assertEquals(calls, ["one"]);
});

Deno.test("throw() on a caller's subscription ends it, even while it waits", async () => {
  const stream = caller.news.subscribe();
  const next = stream.next();
  await until(() => channel.subscribers === 1);
  const failure = new Error("enough");
  assertEquals(await stream.throw!(failure).catch((error) => error), failure);
  assertEquals(channel.subscribers, 0);
  assertEquals((await next).done, true);
});

Deno.test("The signal of a call, else the caller's, unsubscribes", async () => {
  for (const ofCall of [true, false]) {
    const { calls, handlers } = recordingHandlers();
    const controller = new AbortController();
    const { signal } = controller;
    const caller = createCaller(router, undefined, ofCall ? {} : { signal });
    const options = ofCall ? { ...handlers, signal } : handlers;
    caller.news.subscribe(undefined, options);
    await until(() => channel.subscribers === 1);
    controller.abort();
    await until(() => channel.subscribers === 0);
    caller.news.subscribe(undefined, options);
    assertEquals(channel.subscribers, 0);
    assertEquals(calls, []);
  }
});

Deno.test("The signal ends a caller's loop, even if the handler ignores it", async () => {
  ended.length = 0;
  const controller = new AbortController();
  const { signal } = controller;
  const seen: number[] = [];
  for await (const n of caller.count.subscribe(1e9, { signal })) {
    seen.push(n);
    if (n === 2) controller.abort();
  }
  assertEquals(seen, [0, 1, 2]);
  assertEquals(ended, ["count"]);
});

Deno.test("An error thrown by a handler ends a caller's subscription and goes to onError", async () => {
  ended.length = 0;
  const { calls, over, handlers } = recordingHandlers();
  caller.count.subscribe(1e9, {
    ...handlers,
    onData(n) {
      if (n === 2) throw new Error("full");
    },
  });
  await over;
  assertEquals(calls.map(String), ["Error: full"]);
  assertEquals(ended, ["count"]);
});

Deno.test("Without onError, the error of a caller's subscription is logged", async () => {
  const { error } = console;
  const printed = Promise.withResolvers<unknown>();
  console.error = printed.resolve;
  try {
    caller.fails.subscribe(undefined, { onData() {} });
    assert(String(await printed.promise).includes("enough"));
  } finally {
    console.error = error;
  }
});

Deno.test("A call rejects if the path is unknown or of another kind", async () => {
  const call = caller as unknown as Record<string, typeof caller.now>;
  const missing = call.missing!.query();
  await assertRejects(() => missing, Error, "Procedure not found");
  const wrong = call.count!.query();
  await assertRejects(
    () => wrong,
    TypeError,
    "Cannot call count as a query: it is a subscription, use subscribe()",
  );
});
