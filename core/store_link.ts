import { MAX_DELAY } from "./check/rules.ts";
import { redactMessage } from "./redact/redact.ts";
import { logMessage, reportError } from "./redact/printable.ts";
import { runOutside } from "./request_scope.ts";
import { pause, withTimeout } from "./promises.ts";
import { UnavailableError } from "./error_response.ts";

/** A connection that is being opened, or is open. */
export interface LinkConnection<C> {
  /** Resolves when it can be used. */
  readonly ready: Promise<C>;
  /** Closes it at once, in any state. */
  close(): void;
}

/** Options of a {@linkcode StoreLink}. */
export interface StoreLinkOptions<C> {
  /** The link's user in errors and logs, such as `session store`. */
  readonly what: string;
  /** The server in errors and logs, such as `Redis`. */
  readonly server: string;
  /** How long to wait for a connection or an answer, in milliseconds. */
  readonly timeout: number;
  /** Called once for each outage. Default: `console.error`. */
  readonly onError?: ((error: Error) => unknown) | undefined;
  /** Opens a connection. Calls `lose` when it has failed. */
  readonly connect: (lose: (error: Error) => void) => LinkConnection<C>;
  /** Checks an open connection. Called at intervals. */
  readonly beat: (commands: C) => Promise<unknown>;
  /** Whether an error of a command means that the connection is lost. */
  readonly isLost: (error: Error) => boolean;
  /** Whether an error of a command is temporary, on a working connection. */
  readonly isPassing: (error: Error) => boolean;
  /** Called when a connection is lost, and after each failed attempt. */
  readonly onLost?: (() => void) | undefined;
}

/** The interval of health checks, in timeouts. */
const BEAT = 0.5;
/** The pause between two attempts to connect, in milliseconds. */
const MIN_PAUSE = 20;
const MAX_PAUSE = 1_000;
/** The minimum time between two connections, in milliseconds. */
const BRIEF = 100;
/** The time between two reports of errors that come and go, in milliseconds. */
const REPORT_PAUSE = 60_000;

/** Errors that came while the connection worked. */
const passing = new WeakSet<object>();

/**
 * Whether an error came while the connection worked, as from a server that is full.
 * The link reports such errors itself, at most once a minute.
 */
export function isReportedByLink(error: unknown): boolean {
  return error instanceof UnavailableError && passing.has(error);
}

/**
 * A connection to a server that opens at its first use, and reopens when it breaks
 * or goes silent. No call waits longer than the timeout.
 *
 * ```
 *          first use               error, late answer, late beat
 *   idle ────────────► connecting ◄─────────────────────────────┐
 *                      │  ▲    │   calls wait                    │
 *                      │  │    └──────────────────────► open ────┘
 *               failed ▼  │ pause
 *                      away        calls reject at once
 * ```
 */
export class StoreLink<C> {
  readonly #options: StoreLinkOptions<C>;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;
  /** The connection that is being opened, or is open. */
  #current: Attempt<C> | undefined;
  /** Resolves after the current attempt, if calls wait for it. */
  #attempted = Promise.withResolvers<void>();
  #failure: Error | undefined;
  #isReported = false;
  #reportedPassingAt = -Infinity;

  /** Creates a link that connects at its first use. */
  constructor(options: StoreLinkOptions<C>) {
    this.#options = options;
  }

  /** Whether there is a connection now. */
  get isOpen(): boolean {
    return this.#current?.commands !== undefined;
  }

  /** Connects without waiting. */
  open(): void {
    this.#running ??= runOutside(() => this.#keepOpen());
  }

  /** Closes the connection. Later calls reject. */
  async close(): Promise<void> {
    this.#stop.abort();
    this.#current?.lose(new Error("it is closed"));
    await this.#running;
  }

  /**
   * Runs some work over the connection.
   *
   * @throws {UnavailableError} If the server can't be reached, or answers too late.
   * The work may have taken effect.
   */
  async use<T>(work: (commands: C) => Promise<T>): Promise<T> {
    this.open();
    const { timeout } = this.#options;
    const begun = performance.now();
    if (!this.isOpen) await this.#attempted.promise;
    const attempt = this.#current;
    if (attempt?.commands === undefined) throw this.#toUnavailable();
    const left = Math.max(1, timeout - (performance.now() - begun));
    try {
      return await attempt.limit(work(attempt.commands), left);
    } catch (error) {
      throw this.#judge(error as Error, attempt);
    }
  }

  /** Returns the error that a caller gets for an error of a command. */
  #judge(error: Error, attempt: Attempt<C>): Error {
    const { isLost, isPassing } = this.#options;
    if (isLost(error)) {
      this.#failure = error;
      attempt.lose(error);
      return this.#reportOutage();
    }
    if (!isPassing(error)) return error;
    const unavailable = this.#toUnavailable(error);
    passing.add(unavailable);
    const now = performance.now();
    if (now - this.#reportedPassingAt > REPORT_PAUSE) {
      this.#reportedPassingAt = now;
      this.#report(unavailable);
    }
    return unavailable;
  }

  #reportOutage(): Error {
    const error = this.#toUnavailable();
    if (!this.#isReported && !this.#stop.signal.aborted) this.#report(error);
    this.#isReported = true;
    return error;
  }

  #toUnavailable(cause = this.#failure): UnavailableError {
    const { what } = this.#options;
    const reason = this.#stop.signal.aborted
      ? "it is closed"
      : redactMessage(String(cause?.message));
    // Without the cause, because a client's error may hold the command, with a
    // password or a session.
    return new UnavailableError(`Cannot reach ${what}: ${reason}`);
  }

  #report(error: Error): void {
    const { onError = logMessage } = this.#options;
    reportError(onError, error);
  }

  async #keepOpen(): Promise<void> {
    const { signal } = this.#stop;
    let ms = MIN_PAUSE;
    while (!signal.aborted) {
      const openedAt = performance.now();
      const wasOpen = await this.#hold();
      if (signal.aborted) break;
      this.#options.onLost?.();
      if (wasOpen) {
        // Most losses are repaired by the next attempt, which calls wait for.
        this.#attempted = Promise.withResolvers();
        ms = MIN_PAUSE;
        // Some break at once, such as those to a former master at each write.
        const age = performance.now() - openedAt;
        if (age < BRIEF) await pause(BRIEF - age, signal);
        continue;
      }
      this.#reportOutage();
      this.#attempted.resolve();
      // With jitter, because other processes have lost their connections too.
      await pause(ms * (0.5 + Math.random() / 2), signal);
      ms = Math.min(2 * ms, MAX_PAUSE);
    }
    this.#attempted.resolve();
  }

  /** Holds a connection until it is lost. Returns whether it was open. */
  async #hold(): Promise<boolean> {
    const { beat, timeout } = this.#options;
    const attempt = this.#current = new Attempt(this.#options);
    let timer: ReturnType<typeof setInterval> | undefined;
    try {
      await attempt.open();
      this.#attempted.resolve();
      timer = setInterval(() => {
        this.use(beat).then(() => this.#isReported = false, () => {});
      }, Math.min(BEAT * timeout, MAX_DELAY));
      this.#failure = await attempt.lost;
      return true;
    } catch (error) {
      this.#failure = error as Error;
      return false;
    } finally {
      clearInterval(timer);
      attempt.close();
    }
  }
}

/** One connection, from the attempt to open it to its end. */
class Attempt<C> {
  /** The commands, while it is open. */
  commands: C | undefined;
  readonly #options: StoreLinkOptions<C>;
  readonly #connection: LinkConnection<C>;
  readonly #lost = Promise.withResolvers<Error>();
  /** Resolves when the connection is lost. */
  readonly lost: Promise<Error> = this.#lost.promise;
  /** Fails all calls that wait for an answer. */
  readonly #waiting = new Set<(error: Error) => void>();

  constructor(options: StoreLinkOptions<C>) {
    this.#options = options;
    this.#connection = options.connect((error) => this.lose(error));
  }

  async open(): Promise<void> {
    const { ready } = this.#connection;
    this.commands = await this.limit(ready, this.#options.timeout);
  }

  /** Fails all calls on this connection. */
  lose(error: Error): void {
    this.#lost.resolve(error);
    this.commands = undefined;
    for (const fail of this.#waiting) fail(error);
  }

  close(): void {
    this.lose(new Error("it is closed"));
    this.#connection.close();
  }

  /** Rejects if the connection is lost or the work takes too long. */
  limit<T>(work: Promise<T>, ms: number): Promise<T> {
    const { server, timeout } = this.#options;
    const late = () =>
      new Error(`${server} has not answered for ${timeout / 1_000} s`);
    const { promise: lost, reject } = Promise.withResolvers<never>();
    this.#waiting.add(reject);
    const first = Promise.race([work, lost]);
    return withTimeout(first, Math.min(ms, MAX_DELAY), late)
      .finally(() => this.#waiting.delete(reject));
  }
}
