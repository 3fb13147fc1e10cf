/**
 * Shows the traffic of a traced subscription on its span, while it runs.
 *
 * A message only changes fields, which takes 45 ns. The attributes follow within
 * {@linkcode INTERVAL}, with one timer for all subscriptions. Setting them with each
 * message would take 160 ns, 4 % of a small message.
 *
 * @module
 */

import { isA } from "../../core/check/show.ts";
import { byteLength } from "../../core/runtime/node_builtins.ts";
import type { ObservedSpan } from "../../core/observed_span.ts";
import { runOutside } from "../../core/request_scope.ts";
import { RPCError } from "../error.ts";
import type { Stopped, SubscriptionEnd } from "./connection.ts";

/** The time between two updates of a span, in milliseconds. */
const INTERVAL = 100;

/** The subscriptions whose spans are out of date. */
const changed = new Set<Traffic>();
let timer: ReturnType<typeof setTimeout> | undefined;

/** The messages of a traced subscription. */
export class Traffic {
  readonly #span: ObservedSpan;
  #messages = 0;
  #bytes = 0;
  /** The messages at the last update. */
  #shown = 0;
  /** The time of the first message after it, in epoch milliseconds. */
  #time = 0;

  /** Begins to count. */
  constructor(span: ObservedSpan) {
    this.#span = span;
  }

  /** Counts a message that was sent. */
  add(message: string): void {
    this.#bytes += byteLength(message);
    if (this.#messages++ !== this.#shown) return;
    this.#time = Date.now();
    changed.add(this);
    timer ??= runOutside(() => setTimeout(updateAll, INTERVAL));
  }

  /** Runs the subscription, and records how it ended. */
  async observe(signal: AbortSignal, work: () => Promise<void>): Promise<void> {
    const onAbort = () => {
      const { end, closeCode }: Partial<Stopped> = signal.reason;
      this.#end(end ?? "unsubscribed", closeCode);
    };
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      await work();
      if (!signal.aborted) this.#end("completed");
    } catch (error) {
      if (!signal.aborted) this.#end(isGap(error) ? "gap" : "failed");
      throw error;
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  /** Updates the span. */
  update(): void {
    const isSingle = this.#messages === this.#shown + 1;
    this.#shown = this.#messages;
    this.#span.setAttribute("app.rpc.messages", this.#messages);
    this.#span.setAttribute("app.rpc.bytes", this.#bytes);
    this.#span.setAttribute(
      "app.rpc.last_message_time",
      isSingle ? this.#time : Date.now(),
    );
  }

  #end(end: SubscriptionEnd, closeCode?: number): void {
    if (changed.delete(this)) this.update();
    if (changed.size === 0) {
      clearTimeout(timer);
      timer = undefined;
    }
    this.#span.setAttribute("app.rpc.end", end);
    if (closeCode !== undefined) {
      this.#span.setAttribute("app.websocket.close_code", closeCode);
    }
  }
}

function updateAll(): void {
  timer = undefined;
  for (const traffic of changed) traffic.update();
  changed.clear();
}

function isGap(error: unknown): boolean {
  return isA(error, RPCError) &&
    Object(error.details).reason === "MESSAGES_LOST";
}
