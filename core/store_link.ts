import { MAX_DELAY } from "./check/rules.ts";
import { redactMessage } from "./redact/redact.ts";
import { logMessage, reportError } from "./redact/printable.ts";
import { runOutside } from "./request_scope.ts";
import { pause, withTimeout } from "./promises.ts";
import { markReported, UnavailableError } from "./error_response.ts";

/** A connection that is being opened, or is open. */
export interface LinkConnection<C> {
  /** Resolves when it can be used. */
  readonly ready: Promise<C>;
  /** Closes it at once, in any state. */
  close(): void;
}

/** Options of {@linkcode createStoreLink}. */
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
  readonly isTemporary: (error: Error) => boolean;
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

/**
 * Creates a connection to a server that opens at its first use, and reopens when
 * it breaks or goes silent. No call waits longer than the timeout.
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
export function createStoreLink<C>(options: StoreLinkOptions<C>) {
  const { what, timeout, onError = logMessage, onLost, beat } = options;
  const closing = new AbortController();
  const { signal } = closing;
  let running: Promise<void> | undefined;
  /** The connection that is being opened, or is open. */
  let current: Attempt<C> | undefined;
  /** Resolves after the current attempt, if calls wait for it. */
  let attempted = Promise.withResolvers<void>();
  let failure: Error | undefined;
  let isReported = false;
  let reportedAt = -Infinity;

  function isOpen(): boolean {
    return current?.commands !== undefined;
  }

  function open(): void {
    running ??= runOutside(keepOpen);
  }

  async function close(): Promise<void> {
    closing.abort();
    current?.lose(new Error("it is closed"));
    await running;
  }

  async function use<T>(work: (commands: C) => Promise<T>): Promise<T> {
    open();
    const begun = performance.now();
    if (!isOpen()) await attempted.promise;
    const attempt = current;
    if (attempt?.commands === undefined) throw toUnavailable();
    const left = Math.max(1, timeout - (performance.now() - begun));
    try {
      return await attempt.limit(work(attempt.commands), left);
    } catch (error) {
      throw judge(error as Error, attempt);
    }
  }

  /** Returns the error that a caller gets for an error of a command. */
  function judge(error: Error, attempt: Attempt<C>): Error {
    if (options.isLost(error)) {
      failure = error;
      attempt.lose(error);
      return reportOutage();
    }
    if (!options.isTemporary(error)) return error;
    const unavailable = toUnavailable(error);
    markReported(unavailable);
    const now = performance.now();
    if (now - reportedAt > REPORT_PAUSE) {
      reportedAt = now;
      reportError(onError, unavailable);
    }
    return unavailable;
  }

  function reportOutage(): Error {
    const error = toUnavailable();
    if (!isReported && !signal.aborted) reportError(onError, error);
    isReported = true;
    return error;
  }

  function toUnavailable(cause = failure): UnavailableError {
    const reason = signal.aborted
      ? "it is closed"
      : redactMessage(String(cause?.message));
    // Without the cause, because a client's error may hold the command, with a
    // password or a session.
    return new UnavailableError(`Cannot reach ${what}: ${reason}`);
  }

  async function keepOpen(): Promise<void> {
    let ms = MIN_PAUSE;
    while (!signal.aborted) {
      const openedAt = performance.now();
      const wasOpen = await hold();
      if (signal.aborted) break;
      onLost?.();
      if (wasOpen) {
        // Most losses are repaired by the next attempt, which calls wait for.
        attempted = Promise.withResolvers();
        ms = MIN_PAUSE;
        // Some break at once, such as those to a former master at each write.
        const age = performance.now() - openedAt;
        if (age < BRIEF) await pause(BRIEF - age, signal);
        continue;
      }
      reportOutage();
      attempted.resolve();
      // With jitter, because other processes have lost their connections too.
      await pause(ms * (0.5 + Math.random() / 2), signal);
      ms = Math.min(2 * ms, MAX_PAUSE);
    }
    attempted.resolve();
  }

  /** Holds a connection until it is lost. Returns whether it was open. */
  async function hold(): Promise<boolean> {
    const attempt = current = createAttempt(options);
    let timer: ReturnType<typeof setInterval> | undefined;
    try {
      await attempt.open();
      attempted.resolve();
      timer = setInterval(() => {
        use(beat).then(() => isReported = false, () => {});
      }, Math.min(BEAT * timeout, MAX_DELAY));
      failure = await attempt.lost;
      return true;
    } catch (error) {
      failure = error as Error;
      return false;
    } finally {
      clearInterval(timer);
      attempt.close();
    }
  }

  return {
    /** Whether there is a connection now. */
    get isOpen() {
      return isOpen();
    },
    /** Connects without waiting. */
    open,
    /** Closes the connection. Later calls reject. */
    close,
    /**
     * Runs some work over the connection.
     *
     * @throws {UnavailableError} If the server can't be reached, or answers too
     * late. The work may have taken effect.
     */
    use,
  };
}

type Attempt<C> = ReturnType<typeof createAttempt<C>>;

/** Creates one connection, from the attempt to open it to its end. */
function createAttempt<C>({ connect, server, timeout }: StoreLinkOptions<C>) {
  const lost = Promise.withResolvers<Error>();
  /** Fails all calls that wait for an answer. */
  const waiting = new Set<(error: Error) => void>();
  let commands: C | undefined;
  const connection = connect(lose);

  async function open(): Promise<void> {
    commands = await limit(connection.ready, timeout);
  }

  function lose(error: Error): void {
    lost.resolve(error);
    commands = undefined;
    for (const fail of waiting) fail(error);
  }

  function close(): void {
    lose(new Error("it is closed"));
    connection.close();
  }

  function limit<T>(work: Promise<T>, ms: number): Promise<T> {
    const late = () =>
      new Error(`${server} has not answered for ${timeout / 1_000} s`);
    const { promise, reject } = Promise.withResolvers<never>();
    waiting.add(reject);
    const first = Promise.race([work, promise]);
    return withTimeout(first, Math.min(ms, MAX_DELAY), late)
      .finally(() => waiting.delete(reject));
  }

  return {
    /** The commands, while it is open. */
    get commands() {
      return commands;
    },
    /** Resolves when the connection is lost. */
    lost: lost.promise,
    open,
    /** Fails all calls on this connection. */
    lose,
    close,
    /** Rejects if the connection is lost or the work takes too long. */
    limit,
  };
}
