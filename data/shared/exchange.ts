import { MAX_DELAY } from "../../core/check/rules.ts";
import { runOutside } from "../../core/request_scope.ts";
import { withTimeout } from "../../core/promises.ts";
import { isReported } from "../../core/error_response.ts";
import type { Invalidation, InvalidationLog } from "../invalidation_log.ts";
import type { Backend, Changes, Position } from "./backend.ts";
import { coalesce } from "./coalesce.ts";
import { EVERYTHING, namesOf } from "./invalidation_names.ts";
import { SharedNumbers } from "./shared_numbers.ts";

/** Maximum scopes to send. Beyond, everything is invalidated. */
const MAX_UNSENT = 10_000;

/** Options of an {@linkcode Exchange}. Times are in milliseconds. */
interface ExchangeOptions {
  /** The log of this process. */
  readonly log: InvalidationLog;
  /** How often to ask for invalidations. */
  readonly interval: number;
  /** How long to trust memory without an answer. */
  readonly maxStaleness: number;
  /** The clock. */
  readonly now: () => number;
  /** Called when all records so far are invalid. */
  readonly onAll: () => void;
  /** Creates the backend. */
  readonly open: (exchange: Exchange) => Backend;
}

/**
 * Exchanges invalidations with other processes. Knows which of its own the others
 * lack, and whether its knowledge of theirs is recent enough: memory is trusted
 * until `maxStaleness` after the process last knew all invalidations.
 *
 * ```
 *   asked, all known   asked again          cut off
 *   ──────┼────────────────┼───────────────────┼──────────┼─────────▶
 *         └── trusted ─────┴── trusted ───────────────────┘  doubt
 * ```
 */
export class Exchange {
  /** The numbers of this process. */
  readonly numbers: SharedNumbers;
  /** Exchanges invalidations with the others, in a round that starts after this. */
  readonly sync = coalesce(() => this.#exchange());
  readonly #options: ExchangeOptions;
  readonly #backend: Backend;
  readonly #listeners = new Set<(error: unknown) => void>();
  /** When all invalidations were known, or the doubt began. */
  #trustedSince = -Infinity;
  #timer: ReturnType<typeof setInterval> | undefined;
  #beating: Promise<void> | undefined;
  #isClosed = false;
  /** Invalidated scopes that the others don't know of yet. */
  #unsent = new Set<string>();
  readonly #sending = new Set<Promise<void>>();

  /** Creates an exchange that begins with the first use of the backend. */
  constructor(options: ExchangeOptions) {
    this.#options = options;
    this.numbers = new SharedNumbers(options.log);
    this.#backend = options.open(this);
  }

  /** The latest known position of the others. */
  get position(): Position {
    return this.numbers.position;
  }

  /** Whether there are invalidations that the backend doesn't know of yet. */
  get isAhead(): boolean {
    return this.#unsent.size > 0 || this.#sending.size > 0;
  }

  /** Returns the backend. Its first use starts the exchange. */
  use(): Backend {
    if (this.#isClosed) {
      throw new Error("Cannot use the cache's store: it is closed");
    }
    if (this.#timer === undefined) {
      const interval = Math.min(this.#options.interval, MAX_DELAY);
      this.#timer = runOutside(() => setInterval(() => this.#beat(), interval));
      // Doesn't keep the process alive.
      this.#timer.unref();
    }
    return this.#backend;
  }

  /** Stops trusting memory after too long without an answer. */
  checkTrust(): void {
    const { maxStaleness, now } = this.#options;
    if (maxStaleness === Infinity) return;
    const time = now();
    const age = time - this.#trustedSince;
    // Negative after the system clock moved backwards.
    if (age >= 0 && age < maxStaleness) return;
    this.#trustedSince = time;
    this.numbers.doubt();
  }

  /**
   * Fetches all invalidations so far. On failure, stops trusting memory.
   *
   * @param timeout How long that may take, in milliseconds.
   */
  async check(timeout: number): Promise<void> {
    const late = () =>
      new Error(`the store has not answered for ${timeout} ms`);
    try {
      await withTimeout(this.sync(), timeout, late);
    } catch (error) {
      this.numbers.doubt();
      throw error;
    }
  }

  /** Records an invalidation of this process, and sends it to the others. */
  async invalidate(what: Invalidation): Promise<void> {
    this.numbers.note(what);
    for (const name of namesOf(what)) this.#unsent.add(name);
    await this.#send();
  }

  /**
   * Exchanges invalidations if either side may lack some. Otherwise the backend
   * may hold records from before an invalidation of this process.
   */
  async beforeReading(): Promise<void> {
    if (this.position.number === 0) await this.sync();
    if (this.#unsent.size > 0) await this.#send();
    if (this.#sending.size > 0) await Promise.all(this.#sending);
  }

  /**
   * Records the others' invalidations.
   *
   * @param since A time before they were asked.
   */
  learn(changes: Changes, since: number): void {
    if (this.numbers.learn(changes)) this.#options.onAll();
    if (changes.more) return;
    this.#trustedSince = since;
    this.numbers.trust();
    this.report(undefined);
  }

  /** Adds a listener. See {@linkcode CacheStore.onOutage}. */
  onOutage(listener: (error: unknown) => void): void {
    this.#listeners.add(listener);
  }

  /** Notifies the listeners: `undefined` if the backend can be reached. */
  report(error: unknown): void {
    if (this.#isClosed) return;
    for (const listener of this.#listeners) listener(error);
  }

  /** Closes the backend. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#backend.close();
    await this.#beating;
  }

  async #exchange(): Promise<void> {
    await this.#send();
    let more: boolean;
    do {
      const since = this.#options.now();
      const changes = await this.use().ask(this.position);
      this.learn(changes, since);
      more = changes.more;
    } while (more);
  }

  #beat(): void {
    this.#beating ??= this.sync().then(() => this.#backend.tidy?.())
      .catch((error) => {
        if (!isReported(error)) this.report(error);
      })
      .finally(() => this.#beating = undefined);
  }

  async #send(): Promise<void> {
    const names = this.#unsent;
    if (names.size === 0) return;
    const backend = this.use();
    this.#unsent = new Set();
    const isAll = names.size > MAX_UNSENT || names.has(EVERYTHING);
    const scopes = isAll ? [EVERYTHING] : [...names];
    const since = this.#options.now();
    const sent = backend.invalidate(scopes, this.position)
      .then((changes) => this.learn(changes, since));
    this.#sending.add(sent);
    try {
      await sent;
    } catch (error) {
      for (const name of names) this.#unsent.add(name);
      if (this.#unsent.size > MAX_UNSENT) this.#unsent = new Set([EVERYTHING]);
      throw error;
    } finally {
      this.#sending.delete(sent);
    }
  }
}
