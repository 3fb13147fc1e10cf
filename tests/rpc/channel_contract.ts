/**
 * The contract of all channels, whatever carries their messages.
 *
 * @module
 */

import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  type Channel,
  createCaller,
  createRouter,
  procedure,
  RPCError,
} from "@quartet/kit/rpc";
import { connect, serveRouter, subscribe, until } from "./helpers.ts";

/** A channel. Disposing it releases its resources. */
export interface TestChannel extends AsyncDisposable {
  readonly channel: Channel<number>;
}

export interface ChannelKind {
  /** Prefix of the test names. */
  readonly name: string;
  /** Creates an empty channel. */
  open(options: { history: number }): Promise<TestChannel>;
  /** A number of messages, above `history`, that evicts the oldest ones. */
  readonly manyMore: number;
  /** Returns a test's name, with the reason if it is skipped. */
  title?(name: string): string;
  /** Whether the tests are skipped. */
  readonly ignore?: boolean;
}

/** Returns the next `count` values. */
export async function take<T>(
  iterator: AsyncIterator<{ value: T }>,
  count: number,
): Promise<T[]> {
  const values: T[] = [];
  while (values.length < count) {
    const { done, value } = await iterator.next();
    assert(!done, `it ended after ${values.length} of ${count}`);
    values.push(value.value);
  }
  return values;
}

/**
 * Asserts that the next call rejects because messages are lost, and then ends.
 */
export async function assertLost(
  iterator: AsyncIterator<unknown>,
): Promise<void> {
  const error = await iterator.next().then(
    ({ value }) => new Error(`it gave ${JSON.stringify(value)}`),
    (error) => error,
  );
  assert(error instanceof RPCError, String(error));
  assertEquals(error.code, "SUBSCRIPTION_ERROR");
  assertEquals(error.details, { reason: "MESSAGES_LOST" });
  assert(/history of \d+ no longer reaches back/.test(error.message));
  assertEquals(await iterator.next(), { done: true, value: undefined });
}

/** Returns the integers from `from` to `to`. */
export function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, i) => from + i);
}

/** Publishes values in order and returns their ids. */
export function publish(
  channel: Channel<number>,
  values: readonly number[],
): Promise<string[]> {
  return Promise.all(values.map((value) => channel.publish(value)));
}

/** Returns a signal that counts its listeners. */
export function countedSignal(): {
  abort: () => void;
  signal: AbortSignal;
  listeners: Set<unknown>;
} {
  const controller = new AbortController();
  const { signal } = controller;
  const listeners = new Set<unknown>();
  const { addEventListener, removeEventListener } = signal;
  signal.addEventListener = (...args: unknown[]) => {
    listeners.add(args[1]);
    Reflect.apply(addEventListener, signal, args);
  };
  signal.removeEventListener = (...args: unknown[]) => {
    listeners.delete(args[1]);
    Reflect.apply(removeEventListener, signal, args);
  };
  return { abort: () => controller.abort(), signal, listeners };
}

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };

/** Registers the tests for a kind of channel. */
export function testChannel(kind: ChannelKind): void {
  const { name, manyMore, ignore = false, title = (name) => name } = kind;

  function test(
    what: string,
    fn: (channel: Channel<number>, signal: AbortSignal) => Promise<void>,
    history = 300,
  ): void {
    Deno.test({
      name: title(`${name} ${what}`),
      ignore,
      async fn() {
        await using opened = await kind.open({ history });
        const controller = new AbortController();
        try {
          await fn(opened.channel, controller.signal);
        } finally {
          controller.abort();
        }
        assertEquals(opened.channel.subscribers, 0);
      },
    });
  }

  test(
    "delivers to each subscriber, in order, the messages published after it joined",
    async (channel, signal) => {
      await channel.publish(0);
      const first = channel.subscribe(signal);
      await channel.publish(1);
      const second = channel.subscribe(signal);
      await publish(channel, [2, 3]);
      assertEquals(channel.subscribers, 2);
      assertEquals(await take(first, 3), [1, 2, 3]);
      assertEquals(await take(second, 2), [2, 3]);
      const next = [first.next(), second.next()];
      await channel.publish(4);
      for (const result of next) assertEquals((await result).value.value, 4);
    },
  );

  test(
    "delivers each message with the id that publish() returned",
    async (channel, signal) => {
      const stream = channel.subscribe(signal);
      const ids = await publish(channel, [1, 2, 3]);
      assertEquals(new Set(ids).size, 3);
      for (const id of ids) assertEquals((await stream.next()).value.id, id);
    },
  );

  test(
    "keeps order and count if publishing is faster than reading",
    async (channel, signal) => {
      const stream = channel.subscribe(signal);
      const values = range(1, 2000);
      const reading = take(stream, values.length);
      for (let from = 0; from < values.length; from += 100) {
        await publish(channel, values.slice(from, from + 100));
      }
      assertEquals(await reading, values);
    },
    2000,
  );

  test("resumes after lastEventId, near and far", async (channel, signal) => {
    const ids = await publish(channel, range(0, 299));
    const streams = [0, 1, 150, 298, 299].map((last) => ({
      last,
      stream: channel.subscribe(signal, { lastEventId: ids[last] }),
    }));
    for (const { last, stream } of streams) {
      assertEquals(await take(stream, 299 - last), range(last + 1, 299));
    }
    const results = streams.map(({ stream }) => stream.next());
    const lastEventId = await channel.publish(300);
    for (const result of results) {
      assertEquals((await result).value.value, 300);
    }
    // Resume with the last id, when all messages have already arrived.
    const again = channel.subscribe(signal, { lastEventId });
    await channel.publish(301);
    assertEquals(await take(again, 1), [301]);
  });

  test(
    "resumes after lastEventId without a gap while others publish",
    async (channel, signal) => {
      const [id] = await publish(channel, range(0, 500));
      const stream = channel.subscribe(signal, { lastEventId: id });
      const publishing = (async () => {
        for (let i = 501; i <= 900; i++) await channel.publish(i);
      })();
      assertEquals(await take(stream, 900), range(1, 900));
      await publishing;
    },
    1000,
  );

  test(
    "rejects if the history doesn't reach back to lastEventId",
    async (channel, signal) => {
      const [id] = await publish(channel, range(0, manyMore));
      await assertLost(channel.subscribe(signal, { lastEventId: id }));
      assertEquals(channel.subscribers, 0);
    },
    10,
  );

  test(
    "rejects only for a subscriber that fell behind",
    async (channel, signal) => {
      const slow = channel.subscribe(signal);
      const quick = channel.subscribe(signal);
      await channel.publish(0);
      assertEquals(await take(slow, 1), [0]);
      assertEquals(await take(quick, 1), [0]);
      for (let i = 1; i <= manyMore; i++) {
        const next = quick.next();
        await channel.publish(i);
        assertEquals((await next).value.value, i);
      }
      await assertLost(slow);
      assertEquals(channel.subscribers, 1);
    },
    10,
  );

  test("rejects ids that it hasn't issued", async (channel, signal) => {
    const id = await channel.publish(1);
    const [epoch, number] = id.split("-") as [string, string];
    const hostile = [
      "",
      "-",
      "0",
      "0-0",
      "1-1",
      "$",
      "+",
      "*",
      ">",
      "__proto__",
      "constructor",
      "toString",
      "x".repeat(10_000),
      "9".repeat(10_000),
      `${epoch}-`,
      `${epoch}--1`,
      `${epoch}--0`,
      `${epoch}-0${number}`,
      `${epoch}-+${number}`,
      `${epoch}-${number}.0`,
      `${epoch}-${number}e0`,
      `${epoch}-${number} `,
      ` ${id}`,
      `${id}\0`,
      `${epoch}-0x0`,
      `${epoch}-0.5`,
      `${epoch}-1e400`,
      `${epoch}-NaN`,
      `${epoch}-Infinity`,
      `${epoch}-${Number(number) + 1}`,
      `${epoch}-9007199254740993`,
      `${epoch}-18446744073709551616`,
      `${epoch}-${"9".repeat(10_000)}`,
      `${epoch.slice(1)}-${number}`,
      `9${epoch}-${number}`,
      `18446744073709551616-0`,
      `${"0".repeat(epoch.length)}-${number}`,
      `${epoch.replace(/^./, (c) => c === "1" ? "2" : "1")}-${number}`,
    ];
    for (const lastEventId of hostile) {
      await assertLost(channel.subscribe(signal, { lastEventId }));
    }
    const good = channel.subscribe(signal, { lastEventId: id });
    const next = good.next();
    await channel.publish(2);
    assertEquals((await next).value.value, 2);
  });

  test("ends when the signal aborts, even while it waits", async (channel) => {
    const { signal, abort, listeners } = countedSignal();
    const waiting = channel.subscribe(signal);
    const results = [waiting.next(), waiting.next()];
    const standing = channel.subscribe(signal);
    const reading = channel.subscribe(signal);
    await publish(channel, [1, 2, 3]);
    assertEquals(await take(reading, 1), [1]);
    assertEquals((await results[0])!.value.value, 1);
    assertEquals((await results[1])!.value.value, 2);
    const third = waiting.next();
    assertEquals((await third).value.value, 3);
    const last = [waiting.next(), waiting.next()];
    await Promise.resolve();
    abort();
    assertEquals(await Promise.all(last), [DONE, DONE]);
    assertEquals(await standing.next(), DONE);
    assertEquals(await reading.next(), DONE);
    assertEquals(channel.subscribers, 0);
    assertEquals(listeners.size, 0);
  });

  test("ends at once if the signal has already aborted", async (channel) => {
    const stream = channel.subscribe(AbortSignal.abort());
    assertEquals(channel.subscribers, 0);
    await channel.publish(1);
    assertEquals(await stream.next(), DONE);
  });

  test("requires a signal, and counts no subscriber without it", (channel) => {
    for (const signal of [undefined, null, {}, new AbortController()]) {
      assertThrows(
        () => channel.subscribe(signal as never),
        TypeError,
        "Cannot subscribe to channel: signal must be an AbortSignal, received",
      );
    }
    assertEquals(channel.subscribers, 0);
    return Promise.resolve();
  });

  test("ends with return(), even while it waits and when called twice", async (channel) => {
    const { signal, listeners } = countedSignal();
    const stream = channel.subscribe(signal);
    const next = stream.next();
    assertEquals(await stream.return!(), DONE);
    assertEquals(await next, DONE);
    assertEquals(await stream.return!(), DONE);
    const untouched = channel.subscribe(signal);
    assertEquals(await untouched.return!(), DONE);
    assertEquals(await untouched.next(), DONE);
    assertEquals(channel.subscribers, 0);
    assertEquals(listeners.size, 0);
  });

  test("ends when its loop is left", async (channel) => {
    const { signal, listeners } = countedSignal();
    const stream = channel.subscribe(signal);
    await publish(channel, [1, 2, 3]);
    for await (const { value } of stream) if (value === 2) break;
    assertEquals(channel.subscribers, 0);
    assertEquals(listeners.size, 0);
  });

  test("answers calls of next() in order", async (channel, signal) => {
    const stream = channel.subscribe(signal);
    const results = Array.from({ length: 20 }, () => stream.next());
    await publish(channel, range(1, 15));
    const first = await Promise.all(results.slice(0, 15));
    assertEquals(first.map(({ value }) => value.value), range(1, 15));
    await publish(channel, range(16, 20));
    const rest = await Promise.all(results.slice(15));
    assertEquals(rest.map(({ value }) => value.value), range(16, 20));
  });

  test(
    "accepts messages published in a subscriber's loop",
    async (channel, signal) => {
      const seen: number[] = [];
      const stream = channel.subscribe(signal);
      await channel.publish(1);
      for await (const { value } of stream) {
        seen.push(value);
        if (value === 50) break;
        await channel.publish(value + 1);
      }
      assertEquals(seen, range(1, 50));
    },
  );

  test(
    "streams from a handler that returns it or yields from it",
    async (channel, signal) => {
      const api = createRouter({
        returned: procedure.subscription(({ signal, lastEventId }) =>
          channel.subscribe(signal, { lastEventId })
        ),
        yielded: procedure.subscription(async function* ({ signal }) {
          yield* channel.subscribe(signal);
        }),
      });
      const caller = createCaller(api);
      const id = await channel.publish(1);
      const returned = caller.returned.subscribe(undefined, {
        signal,
        lastEventId: id,
      });
      const yielded = caller.yielded.subscribe(undefined, { signal });
      const next = yielded.next();
      while (channel.subscribers < 1) await Promise.resolve();
      await channel.publish(2);
      const values: number[] = [(await returned.next()).value as number];
      values.push((await next).value as number);
      assertEquals(values, [2, 2]);
      const waiting = yielded.next();
      await returned.return!(undefined);
      const stopped = caller.yielded.subscribe(undefined, {
        signal: AbortSignal.abort(),
      });
      assertEquals((await stopped.next()).done, true);
      await channel.publish(3);
      assertEquals((await waiting).value, 3);
      await yielded.return!(undefined);
    },
  );

  test(
    "sends the starting position to a socket's client, to resume from",
    async (channel) => {
      const api = createRouter({
        returned: procedure.subscription(({ signal, lastEventId }) =>
          channel.subscribe(signal, { lastEventId })
        ),
        yielded: procedure.subscription(
          async function* ({ signal, lastEventId }) {
            yield* channel.subscribe(signal, { lastEventId });
          },
        ),
      });
      await using server = await serveRouter(api);
      for (const [round, path] of ["returned", "yielded"].entries()) {
        const eventId = await (async () => {
          await using client = await connect(server);
          client.send(subscribe("a", path));
          const message = await client.next();
          assertEquals([message.type, message.id], ["started", "a"]);
          return message.eventId;
        })();
        const values = range(10 * round, 10 * round + 5);
        await publish(channel, values);
        await using client = await connect(server);
        client.send({ ...subscribe("a", path), lastEventId: eventId });
        const messages = await client.take(values.length);
        assertEquals(messages.map(({ data }) => data), values);
      }
      await until(() => channel.subscribers === 0);
    },
  );

  test("ends a subscription with its call, even if nothing reads it", async (channel) => {
    const failed = new RPCError("AWAY", "The database is away", 503);
    const api = createRouter({
      next: procedure.query(({ signal }) => {
        void channel.subscribe(signal).next();
      }),
      thrown: procedure.subscription(({ signal }) => {
        channel.subscribe(signal);
        throw failed;
      }),
      yielded: procedure.subscription(
        async function* ({ signal, lastEventId }) {
          const changes = channel.subscribe(signal);
          if (lastEventId === undefined) throw failed;
          yield* changes;
        },
      ),
    });
    await using server = await serveRouter(api);
    await using client = await connect(server);
    const caller = createCaller(api);
    for (const path of ["thrown", "yielded"] as const) {
      client.send(subscribe(path, path));
      assertEquals((await client.next()).error?.code, "AWAY");
      await until(() => channel.subscribers === 0);
      const stream = caller[path].subscribe();
      assertEquals(await stream.next().catch((error) => error), failed);
      assertEquals(channel.subscribers, 0);
    }
    await server.get("next");
    assertEquals(channel.subscribers, 0);
  });

  test("keeps nothing of 10,000 former subscribers", async (channel) => {
    const { signal, abort, listeners } = countedSignal();
    const others = Array.from({ length: 100 }, countedSignal);
    await channel.publish(0);
    for (let round = 0; round < 100; round++) {
      const streams = others.map(({ signal }) => channel.subscribe(signal));
      const results = streams.map((stream) => stream.next());
      if (round % 10 === 0) {
        await channel.publish(round);
        for (const result of results) {
          assertEquals((await result).value.value, round);
        }
      }
      // Some end by themselves, some are aborted, some while they wait.
      const waiting = streams.map((stream) => stream.next());
      for (let i = 0; i < 50; i++) streams[i]!.return!();
      for (let i = 50; i < 100; i++) {
        others[i]!.abort();
        assertEquals(others[i]!.listeners.size, 0);
        others[i] = countedSignal();
      }
      for (const result of waiting) assertEquals((await result).done, true);
      assertEquals(channel.subscribers, 0);
    }
    for (const { listeners } of others) assertEquals(listeners.size, 0);
    // All subscribers share one signal.
    const streams = range(1, 1000).map(() => channel.subscribe(signal));
    abort();
    for (const stream of streams) assertEquals(await stream.next(), DONE);
    assertEquals(listeners.size, 0);
  });
}
