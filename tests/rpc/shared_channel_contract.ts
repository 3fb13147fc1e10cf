/**
 * The contract of channels that several processes share.
 *
 * @module
 */

import {
  assertEquals,
  assertGreater,
  assertRejects,
  assertThrows,
} from "@std/assert";
import type { Channel, Transformer } from "@quartet/kit/rpc";
import { publish, range, take } from "./channel_contract.ts";

/** A channel, as opened by one process. */
export interface SharedChannel<T> extends Channel<T> {
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Channels that represent several processes. Disposing it closes them. */
export interface SharedChannels extends AsyncDisposable {
  channel<T>(options?: {
    readonly name?: string;
    readonly history?: number;
    readonly transformer?: Transformer;
  }): SharedChannel<T>;
}

export interface SharedChannelKind {
  /** Suffix of the test names, such as `in Redis`. */
  readonly where: string;
  /** Creates an empty store. */
  open(): Promise<SharedChannels>;
  /** Returns a test's name, with the reason if it is skipped. */
  title(name: string): string;
  /** Whether the tests are skipped. */
  readonly ignore: boolean;
}

/** Registers the tests for a kind of channel. */
export function testSharedChannel(kind: SharedChannelKind): void {
  function test(
    name: string,
    fn: (channels: SharedChannels, signal: AbortSignal) => Promise<void>,
  ): void {
    Deno.test({
      name: kind.title(`${name} (${kind.where})`),
      ignore: kind.ignore,
      async fn() {
        await using channels = await kind.open();
        const controller = new AbortController();
        try {
          await fn(channels, controller.signal);
        } finally {
          controller.abort();
        }
      },
    });
  }

  test(
    "Channels of one name are one channel, even across processes",
    async (channels, signal) => {
      const here = channels.channel<number>();
      const there = channels.channel<number>();
      const streams = [here.subscribe(signal), there.subscribe(signal)];
      // The start is requested over another connection.
      await Promise.all([here.ping(), there.ping()]);
      const ids = [await here.publish(1), await there.publish(2)];
      for (const stream of streams) assertEquals(await take(stream, 2), [1, 2]);
      // A reconnecting client may reach another process, or a new one.
      for (const channel of [here, there, channels.channel<number>()]) {
        const stream = channel.subscribe(signal, { lastEventId: ids[0] });
        assertEquals(await take(stream, 1), [2]);
      }
    },
  );

  test(
    "Channels of different names are independent",
    async (channels, signal) => {
      const channel = channels.channel<number>();
      const stream = channel.subscribe(signal);
      await channels.channel({ name: "💥 'other'; \\" }).publish(1);
      await channel.publish(2);
      assertEquals(await take(stream, 1), [2]);
    },
  );

  test(
    "Values are encoded as JSON, or by the transformer",
    async (channels, signal) => {
      const json = channels.channel<unknown>();
      const values = [
        null,
        0,
        "",
        "\u2028\ud800\0'\\",
        [1, { a: [] }],
        { __proto__: 1 },
        "x".repeat(100_000),
      ];
      const stream = json.subscribe(signal);
      for (const value of values) await json.publish(value);
      assertEquals(await take(stream, values.length), values);
      for (const value of [undefined, () => 1, Symbol("s")]) {
        await assertRejects(
          () => json.publish(value),
          TypeError,
          `JSON can't represent a value of type ${typeof value}`,
        );
      }
      await assertRejects(() => json.publish(1n), TypeError);
      await stream.return!();

      const dates = channels.channel<Date>({
        transformer: {
          stringify: (value) => `${(value as Date).getTime()}`,
          parse: (text) => new Date(Number(text)),
        },
      });
      const times = dates.subscribe(signal);
      await dates.publish(new Date(5));
      assertEquals(await take(times, 1), [new Date(5)]);
    },
  );

  test(
    "An unreadable message ends the subscriptions once",
    async (channels, signal) => {
      const channel = channels.channel<number>();
      const stream = channel.subscribe(signal);
      const next = stream.next();
      const id = await channel.publish(1);
      assertEquals((await next).value.value, 1);
      const other = channels.channel<unknown>({
        transformer: { stringify: () => "{", parse: JSON.parse },
      });
      await other.publish(0);
      await assertRejects(() => stream.next(), SyntaxError);
      assertEquals((await stream.next()).done, true);
      assertEquals(channel.subscribers, 0);
      await assertRejects(
        () => channel.subscribe(signal, { lastEventId: id }).next(),
        SyntaxError,
      );
      const later = channel.subscribe(signal);
      await channel.publish(2);
      assertEquals(await take(later, 1), [2]);
    },
  );

  test(
    "close() ends subscriptions, and nothing works afterwards",
    async (channels, signal) => {
      const channel = channels.channel<number>();
      const streams = range(1, 3).map(() => channel.subscribe(signal));
      const results = streams.slice(1).map((stream) => stream.next());
      await channel.ping();
      await channel.close();
      for (const result of results) assertEquals((await result).done, true);
      assertEquals((await streams[0]!.next()).done, true);
      assertEquals(channel.subscribers, 0);
      await channel.close();
      const message = "channel is closed";
      assertThrows(() => channel.subscribe(signal), Error, message);
      await assertRejects(() => channel.publish(1), Error, message);
      await assertRejects(() => channel.ping(), Error, message);
    },
  );

  test(
    "Thousands of messages from several publishers arrive in order",
    async (open, signal) => {
      const channels = range(0, 3).map(() =>
        open.channel<number>({ history: 8000 })
      );
      const streams = channels.map((channel) => channel.subscribe(signal));
      await Promise.all(channels.map((channel) => channel.ping()));
      const started = performance.now();
      const reading = streams.map((stream) => take(stream, 8000));
      for (const round of range(0, 19)) {
        await Promise.all(channels.map((channel, i) =>
          publish(
            channel,
            range(1, 100).map((n) => i * 10_000 + round * 100 + n),
          )
        ));
      }
      const [first, ...rest] = await Promise.all(reading);
      for (const other of rest) assertEquals(other, first);
      for (const i of range(0, 3)) {
        const own = first!.filter((value) => Math.floor(value / 10_000) === i);
        assertEquals(own, range(i * 10_000 + 1, i * 10_000 + 2000));
      }
      assertGreater(30_000, performance.now() - started);
    },
  );
}
