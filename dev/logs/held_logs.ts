import { GenerationMap } from "../../core/collections/generation_map.ts";
import { Delay } from "../delay.ts";
import type { Severity } from "./console_text.ts";

/** A log that waits for the tree of its request. */
export interface HeldLog {
  /** The span that was active. */
  readonly spanId: string;
  /** The severity. */
  readonly severity: Severity;
  /** The text of the console, not cut and not redacted. */
  readonly text: string;
  /** Whether the console writes it to standard error. */
  readonly isError: boolean;
}

/** The held logs of one request. */
interface Held {
  readonly logs: HeldLog[];
  readonly since: number;
  size: number;
}

/** How long a log waits for the end of its request, in milliseconds. */
const MAX_WAIT = 1_000;

/** Maximum characters that wait in one request. */
const MAX_SIZE = 256 * 1024;

/** Maximum running requests whose logs don't wait. */
const MAX_RELEASED = 20_000;

/**
 * Logs of running requests, by root span. The tree of a request takes them when
 * it is printed. Logs that waited for a second are printed without it, as are
 * all later ones of the same request.
 */
export class HeldLogs {
  readonly #print: (log: HeldLog) => void;
  readonly #held = new Map<string, Held>();
  /** The requests whose logs don't wait. The oldest ones are forgotten. */
  readonly #released = new GenerationMap<string, true>({
    maxSize: MAX_RELEASED,
  });
  readonly #delay = new Delay(() => this.#releaseLate());

  /**
   * Creates an empty store.
   *
   * @param print Prints a log that no tree shows.
   */
  constructor(print: (log: HeldLog) => void) {
    this.#print = print;
  }

  /** Holds a log, or returns `false` if it must be printed at once. */
  add(rootSpanId: string, log: HeldLog): boolean {
    if (this.#released.get(rootSpanId)) return false;
    const now = performance.now();
    let held = this.#held.get(rootSpanId);
    const size = (held?.size ?? 0) + log.text.length;
    // A timer doesn't run while a loop of the app logs.
    const isLate = held !== undefined && now - held.since >= MAX_WAIT;
    if (isLate || size > MAX_SIZE) {
      this.release(rootSpanId);
      return false;
    }
    if (held === undefined) {
      held = { logs: [], since: now, size: 0 };
      this.#held.set(rootSpanId, held);
    }
    held.logs.push(log);
    held.size = size;
    this.#delay.start(MAX_WAIT);
    return true;
  }

  /** Returns the logs of a request that ends, and forgets them. */
  take(rootSpanId: string): readonly HeldLog[] {
    const logs = this.#held.get(rootSpanId)?.logs ?? [];
    this.#held.delete(rootSpanId);
    this.#released.delete(rootSpanId);
    return logs;
  }

  /** Prints the logs of a request that ended without a tree. */
  drop(rootSpanId: string): void {
    for (const log of this.take(rootSpanId)) this.#print(log);
  }

  /** Prints the logs of a running request. Its later logs don't wait. */
  release(rootSpanId: string): void {
    this.drop(rootSpanId);
    this.#released.set(rootSpanId, true);
  }

  /** Prints all logs. */
  releaseAll(): void {
    this.#delay.cancel();
    for (const rootSpanId of [...this.#held.keys()]) this.release(rootSpanId);
  }

  #releaseLate(): void {
    const now = performance.now();
    for (const [rootSpanId, { since }] of this.#held) {
      const left = since + MAX_WAIT - now;
      if (left > 0) {
        // Requests are in the order of their first log.
        return this.#delay.start(Math.ceil(left));
      }
      this.release(rootSpanId);
    }
  }
}
