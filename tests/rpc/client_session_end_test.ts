import { assert, assertEquals } from "@std/assert";
import {
  createChannel,
  createRouter,
  errors,
  procedure,
} from "@quartet/kit/rpc";
import { createClient, RPCClientError } from "@quartet/kit/rpc/client";
import { serveBreakable } from "./breakable_server.ts";
import { type FakeTimers, fakeTimers } from "./fake_timers.ts";
import { until } from "./helpers.ts";

/** A delay of retries that `fakeTimers()` controls, in milliseconds. */
const DELAY = 100;

/** Serves sessions and a page whose cookie is `page.session`. */
async function serveSessions(delayMs = 1) {
  const page = { session: "first", ready: Promise.resolve() };
  const valid = new Set(["first"]);
  const ended = new EventTarget();
  const mine = createChannel<number>();
  const everybodys = createChannel<number>();
  const sessionOf = ({ url }: Request) =>
    new URL(url).searchParams.get("session")!;

  const api = createRouter({
    mine: procedure.subscription(
      async function* ({ request, signal, lastEventId }) {
        const session = sessionOf(request);
        if (!valid.has(session)) throw errors.unauthorized();
        const over = Promise.withResolvers<never>();
        over.promise.catch(() => {});
        ended.addEventListener(
          session,
          () => over.reject(errors.unauthorized()),
        );
        const messages = mine.subscribe(signal, { lastEventId });
        try {
          for (;;) {
            const { done, value } = await Promise.race([
              messages.next(),
              over.promise,
            ]);
            if (done) return;
            yield value;
          }
        } finally {
          await messages.return!();
        }
      },
    ),
    everybodys: procedure.subscription(({ signal, lastEventId }) =>
      everybodys.subscribe(signal, { lastEventId })
    ),
  });
  const server = await serveBreakable(api);
  const rpc = createClient<typeof api>({
    httpEndpoint: server.url,
    // Real sockets send cookies with the handshake. This one sends a parameter.
    async wsEndpoint() {
      await page.ready;
      return `${server.url}?session=${page.session}`;
    },
    reconnect: { delayMs },
  });
  return {
    rpc,
    page,
    valid,
    mine,
    everybodys,
    get opened() {
      return server.opened;
    },
    end(session: string) {
      valid.delete(session);
      ended.dispatchEvent(new Event(session));
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** Returns the number of subscriptions that wait for their next attempt. */
function retriesOf({ waits }: FakeTimers): number {
  return waits.filter((ms) => ms <= 2 * DELAY).length;
}

/** Waits until both subscriptions wait for their next attempt, and makes it. */
async function retryTogether(timers: FakeTimers): Promise<void> {
  await until(() => retriesOf(timers) === 2);
  timers.advance(2 * DELAY);
}

Deno.test("A subscription whose session ends continues with the next session, and others are undisturbed", async () => {
  using timers = fakeTimers();
  await using app = await serveSessions(DELAY);
  const { rpc, page, mine, everybodys } = app;
  const seen: number[][] = [[], [], []];
  const streams = [rpc.mine, rpc.mine, rpc.everybodys];
  const unsubscribes = streams.map((stream, i) =>
    stream.subscribe(undefined, { onData: (n) => seen[i]!.push(n) })
  );
  await until(() => mine.subscribers === 2 && everybodys.subscribers === 1);
  await mine.publish(1);
  await until(() => seen[1]!.length === 1);

  // As in a new sign-in: the old session ends before the page has the new
  // cookie.
  const signedIn = Promise.withResolvers<void>();
  page.ready = signedIn.promise;
  app.end("first");
  await until(() => mine.subscribers === 0);
  assertEquals(everybodys.subscribers, 1);
  await retryTogether(timers);
  await mine.publish(2);
  app.valid.add(page.session = "second");
  signedIn.resolve();
  await until(() => mine.subscribers === 2);
  await mine.publish(3);
  await everybodys.publish(4);
  await until(() => seen.every(({ length }) => length > 0));
  await until(() => seen[1]!.length === 3);
  assertEquals(seen, [[1, 2, 3], [1, 2, 3], [4]]);
  // Both share the new socket.
  assertEquals(app.opened, 2);
  for (const unsubscribe of unsubscribes) unsubscribe();
  await until(() => everybodys.subscribers === 0);
});

Deno.test("A subscription whose session has ended for good retries once and then stops", async () => {
  using timers = fakeTimers();
  await using app = await serveSessions(DELAY);
  const { rpc, mine } = app;
  const failed = Promise.withResolvers<Error>();
  rpc.mine.subscribe(undefined, {
    onData() {},
    onError: failed.resolve,
  });
  const reading = (async () => {
    for await (const _ of rpc.mine.subscribe());
  })().catch((error) => error);
  await until(() => mine.subscribers === 2);
  await mine.publish(1);
  app.end("first");
  await retryTogether(timers);
  for (const error of [await failed.promise, await reading]) {
    assert(error instanceof RPCClientError);
    assertEquals([error.code, error.path], ["UNAUTHORIZED", "mine"]);
  }
  assertEquals(app.opened, 2);
  assertEquals(mine.subscribers, 0);
});

Deno.test("A subscription that was never accepted isn't retried", async () => {
  await using app = await serveSessions();
  app.end("first");
  const error = await new Promise((resolve) =>
    app.rpc.mine.subscribe(undefined, { onData() {}, onError: resolve })
  );
  assert(error instanceof RPCClientError);
  assertEquals(error.code, "UNAUTHORIZED");
  assertEquals(app.opened, 1);
});

Deno.test("A subscription whose session ends before the first message is retried", async () => {
  await using app = await serveSessions();
  const { rpc, page, mine } = app;
  const seen: number[] = [];
  const unsubscribe = rpc.mine.subscribe(undefined, {
    onData: (n) => seen.push(n),
  });
  await until(() => mine.subscribers === 1);
  app.valid.add(page.session = "second");
  app.end("first");
  await mine.publish(1);
  await until(() => seen.length === 1);
  unsubscribe();
  await until(() => mine.subscribers === 0);
});

Deno.test("A subscription that has run for a while may retry once more", async () => {
  await using app = await serveSessions();
  const { rpc, page, mine } = app;
  const { now } = Date;
  let passed = 0;
  Date.now = () => now() + passed;
  try {
    let error: unknown;
    rpc.mine.subscribe(undefined, {
      onData() {},
      onError: (failure) => error = failure,
    });
    const sessions = ["first", "second", "third"];
    for (const [i, session] of sessions.entries()) {
      await until(() => mine.subscribers === 1);
      await mine.publish(i);
      app.valid.add(page.session = sessions[i + 1] ?? "fourth");
      passed += 60_000;
      app.end(session);
      await until(() => mine.subscribers === 0);
    }
    await until(() => mine.subscribers === 1);
    assertEquals(error, undefined);
    // The session ends again at once.
    app.valid.add(page.session = "fifth");
    app.end("fourth");
    await until(() => error !== undefined);
    assertEquals((error as RPCClientError).code, "UNAUTHORIZED");
  } finally {
    Date.now = now;
  }
});

Deno.test("Unsubscribing while the next attempt waits leaves nothing behind", async () => {
  using timers = fakeTimers();
  await using app = await serveSessions(DELAY);
  const { rpc, mine } = app;
  const unsubscribe = rpc.mine.subscribe(undefined, { onData() {} });
  await until(() => mine.subscribers === 1);
  await mine.publish(1);
  app.end("first");
  await until(() => retriesOf(timers) === 1);
  unsubscribe();
  assertEquals(retriesOf(timers), 0);
  assertEquals([app.opened, mine.subscribers], [1, 0]);
});
