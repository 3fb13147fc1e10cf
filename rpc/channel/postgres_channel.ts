/**
 * A channel that several machines share, over a table in Postgres.
 *
 * @module
 */

import { checkOptions, type OptionRules } from "../../core/check/options.ts";
import {
  aFunction,
  aPositiveInteger,
  required,
  rule,
} from "../../core/check/rules.ts";
import {
  POSTGRES_OPTIONS,
  type PostgresOptions,
} from "../../core/postgres/options.ts";
import { anIdentifier } from "../../core/postgres/tables.ts";
import type { Tracked } from "../procedure/tracked.ts";
import type { Transformer } from "../protocol.ts";
import { aTransformer } from "../server/endpoints.ts";
import type { Channel, ChannelSubscribeOptions } from "./channel.ts";
import { createLogChannel } from "./log_channel.ts";
import { DEFAULT_HISTORY } from "./message_ring.ts";
import { createPostgresLog, isStorable } from "./postgres_log.ts";

export type { Channel, ChannelSubscribeOptions };
export type { Tracked, Transformer };

/** Settings of a channel in Postgres. */
export interface PostgresChannelOptions extends PostgresOptions {
  /** The channel's name. Channels of the same name and table are one channel. */
  readonly name: string;
  /** The table, for any number of channels. Default `kit_messages`. */
  readonly table?: string;
  /**
   * The number of messages that Postgres keeps at least, and each process at
   * most, for returning and slow subscribers. Use the same in all processes.
   * Default 1,024.
   */
  readonly history?: number;
  /** Turns values into text and back. Default: `JSON`. */
  readonly transformer?: Transformer;
  /** The source of randomness. Default: `crypto.getRandomValues`. */
  readonly random?: (bytes: Uint8Array<ArrayBuffer>) => void;
}

const OPTIONS: OptionRules<PostgresChannelOptions> = {
  ...POSTGRES_OPTIONS,
  name: required(
    rule(
      "a non-empty string without U+0000",
      (value) => value !== "" && isStorable(value),
    ),
  ),
  table: anIdentifier,
  history: aPositiveInteger,
  transformer: aTransformer,
  random: aFunction,
};

/** A channel in Postgres. */
export interface PostgresChannel<T> extends Channel<T>, AsyncDisposable {
  /** Rejects if Postgres can't be reached, for a health check of your own. */
  ping(): Promise<void>;
  /** Ends all subscriptions of this process and closes their connections. */
  close(): Promise<void>;
}

/**
 * Creates a channel in Postgres. It opens two connections: one for statements,
 * and with the first subscriber one for notifications. A pooler in transaction
 * mode can't carry notifications.
 *
 * While Postgres is away, subscriptions wait. Then they continue after the last
 * message they yielded, without a gap or a repetition. If Postgres has lost or
 * deleted their next message, they end as {@linkcode Channel} describes.
 *
 * `publish()` is one statement. Calls that wait for the connection share one.
 * If Postgres can't be reached, it rejects with `UnavailableError` within
 * `timeout`; the message may still have been published. It rejects with a
 * `TypeError` if the value can't be encoded, or its text has characters that
 * Postgres can't store: U+0000 and unpaired surrogates, which `JSON` escapes.
 *
 * @param options The client, the name and the length of the history.
 * @throws {TypeError} If `connect` doesn't create a client of `npm:pg` or
 * `npm:postgres`, or another option is wrong.
 *
 * @example
 * ```ts
 * import { createPostgresChannel } from "@quartet/kit/rpc/postgres";
 * import { procedure } from "@quartet/kit/rpc";
 * import postgres from "postgres";
 *
 * const url = "postgres://app@127.0.0.1/app";
 * await using news = createPostgresChannel<string>({
 *   connect: () => postgres(url, { max: 1 }),
 *   name: "news",
 * });
 *
 * const subscribe = procedure.subscription(({ signal, lastEventId }) =>
 *   news.subscribe(signal, { lastEventId })
 * );
 * console.assert(subscribe.kind === "subscription");
 * console.assert(news.subscribers === 0);
 * ```
 */
export function createPostgresChannel<T>(
  options: PostgresChannelOptions,
): PostgresChannel<T> {
  checkOptions(options, OPTIONS, "create channel");
  const { history = DEFAULT_HISTORY, transformer } = options;
  const log = createPostgresLog(options, history);
  return createLogChannel(log, history, transformer);
}
