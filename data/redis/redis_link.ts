import { MAX_DELAY } from "../../core/check/rules.ts";
import { pause } from "../../core/runtime/pause.ts";
import { destroy, isTransient } from "../../core/runtime/redis.ts";
import { withTimeout } from "../../core/runtime/timeouts.ts";
import type { CacheRedisClient } from "./redis_client.ts";

/** Runs a Lua script. */
export type Run = (
  script: string,
  keys: string[],
  args: string[],
) => Promise<unknown>;

/** Options of a {@linkcode RedisLink}. */
export interface RedisLinkOptions {
  /** The client whose settings the connections have. */
  readonly client: CacheRedisClient;
  /** The channel to listen to. */
  readonly channel: string;
  /** How long to wait for an answer, in milliseconds. */
  readonly timeout: number;
  /** Called with each message. */
  readonly onMessage: (message: string) => void;
  /** Called with each new connection, before anyone else may use it. */
  readonly onConnect: (run: Run) => Promise<void>;
  /** Called when the connection is lost. */
  readonly onLost: () => void;
  /** Called when a connection may be used, and at intervals from then on. */
  readonly onBeat: () => Promise<void>;
}

/** The interval of health checks, in timeouts. */
const BEAT = 2.5;
/** The pause between two attempts to connect, in milliseconds. */
const MIN_PAUSE = 20;
const MAX_PAUSE = 2_000;

/**
 * Two connections to one Redis: one for scripts, one for messages. Either both
 * are used or none, so silence means that there were no messages.
 *
 * The link reconnects itself. The client would queue commands until it is
 * connected, and send them before anyone has asked what Redis has lost. Without
 * a connection, the link rejects at once.
 */
export class RedisLink {
  readonly #options: RedisLinkOptions;
  readonly #stop = new AbortController();
  /** Runs scripts, while it works. */
  #run: Run | undefined;
  /** Resolves after the first attempt to connect. */
  readonly #tried = Promise.withResolvers<void>();
  #running: Promise<void> | undefined;
  #pause = MIN_PAUSE;
  #failure: unknown;

  /** Creates a link that connects at its first use. */
  constructor(options: RedisLinkOptions) {
    this.#options = options;
  }

  /** Runs a script. Rejects at once while there is no connection. */
  readonly run: Run = async (script, keys, args) => {
    this.#running ??= this.#keepOpen();
    await this.#tried.promise;
    if (this.#run !== undefined) return await this.#run(script, keys, args);
    throw new Error(
      this.#stop.signal.aborted
        ? "Cannot use the cache's store: it is closed"
        : "Cannot use the cache's store: Redis can't be reached",
      { cause: this.#failure },
    );
  };

  /** Closes the connections. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #keepOpen(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      this.#failure = await this.#connect().catch((error) => error);
      this.#tried.resolve();
      this.#options.onLost();
      // Out of step with the other processes, which lost theirs too.
      await pause(this.#pause * (0.5 + Math.random() / 2), signal);
      this.#pause = Math.min(2 * this.#pause, MAX_PAUSE);
    }
    this.#tried.resolve();
  }

  /** Connects, and rejects when one of the connections is lost. */
  async #connect(): Promise<void> {
    const { client, channel, timeout, onMessage, onConnect, onBeat } =
      this.#options;
    const { signal } = this.#stop;
    const lost = Promise.withResolvers<never>();
    lost.promise.catch(() => {});
    const lose = () => lost.reject(new Error("The store was closed"));
    signal.addEventListener("abort", lose);
    if (signal.aborted) lose();
    const open = () => {
      const copy = client.duplicate();
      copy.on("error", lost.reject);
      return copy;
    };
    const commands = open();
    const listener = open();
    /** Treats a late answer as a lost connection. */
    const inTime = <T>(work: Promise<T>): Promise<T> => {
      const late = () => new Error(`Redis has not answered for ${timeout} ms`);
      const result = withTimeout(
        Promise.race([work, lost.promise]),
        timeout,
        late,
      );
      result.catch((error) => {
        // Another connection may do better.
        if (isTransient(error)) lost.reject(error);
      });
      return result;
    };
    const run: Run = (script, keys, args) =>
      inTime(commands.eval(script, { keys, arguments: args }));
    let beat: ReturnType<typeof setTimeout> | undefined;
    try {
      await inTime(Promise.all([commands.connect(), listener.connect()]));
      // From here on, messages arrive; onConnect() learns what came before.
      await inTime(listener.subscribe(channel, onMessage));
      await onConnect(run);
      this.#run = run;
      this.#pause = MIN_PAUSE;
      this.#tried.resolve();
      onBeat().catch(() => {});
      beat = setInterval(() => {
        inTime(listener.ping()).catch(() => {});
        onBeat().catch(() => {});
      }, Math.min(BEAT * timeout, MAX_DELAY));
      await lost.promise;
    } finally {
      this.#run = undefined;
      clearInterval(beat);
      signal.removeEventListener("abort", lose);
      for (const connection of [commands, listener]) destroy(connection);
    }
  }
}
