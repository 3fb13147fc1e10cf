/**
 * Subscriptions of a caller on the server, as an iterator or with handlers.
 *
 * @module
 */

import { printableError } from "../../core/redact/printable.ts";
import { reportError } from "../../core/report_error.ts";
import type { SubscriptionHandlers } from "../procedure/calls.ts";
import { Tracked } from "../procedure/tracked.ts";
import type { Call } from "./call.ts";
import { checkOutput, perform, toIterator } from "./run.ts";

/**
 * Yields the values of a subscription, which begins with the first `next()`.
 */
export function iterate(call: Call, input: unknown): AsyncGenerator<unknown> {
  const iterator = values(call, input);
  for (const name of ["return", "throw"] as const) {
    const leave = iterator[name].bind(iterator);
    // A waiting generator would delay this, so abort the procedure first.
    iterator[name] = (value) => {
      call.abandon(new DOMException("Unsubscribed", "AbortError"));
      return leave(value);
    };
  }
  return iterator;
}

async function* values(call: Call, input: unknown): AsyncGenerator<unknown> {
  let stream: AsyncIterator<unknown> | undefined;
  try {
    stream = await perform(call, input, (it) => toIterator(it, call.path));
    for (;;) {
      const { done, value } = await stream.next();
      if (done || call.signal.aborted) return;
      yield await checkOutput(
        call,
        value instanceof Tracked ? value.value : value,
      );
    }
  } finally {
    call.settle();
    await stream?.return?.();
  }
}

/**
 * Passes the values of a subscription to handlers. An error of `onData` or
 * `onComplete` ends it, as in a loop, and goes to `onError`.
 *
 * @param begin Returns the values, or throws.
 * @param signal Unsubscribes.
 * @returns A function that unsubscribes. No handler is called after that.
 */
export function handOver(
  begin: () => AsyncGenerator<unknown>,
  { onData, onError = logError, onComplete }: SubscriptionHandlers<unknown>,
  signal: AbortSignal,
): () => void {
  let stream: AsyncGenerator<unknown> | undefined;
  let isOver = signal.aborted;
  const end = () => {
    isOver = true;
    signal.removeEventListener("abort", unsubscribe);
  };

  function unsubscribe(): void {
    if (isOver) return;
    end();
    // The caller has left, so errors are ignored.
    stream?.return(undefined).catch(() => {});
  }

  async function run(): Promise<void> {
    try {
      stream = begin();
      for await (const value of stream) {
        if (isOver) return;
        onData(value);
      }
      if (!isOver) onComplete?.();
    } catch (error) {
      // The caller gets the unsubscribe function before an error.
      await undefined;
      if (!isOver) reportError(onError, error as Error);
    }
    end();
  }

  if (!isOver) {
    signal.addEventListener("abort", unsubscribe);
    run();
  }
  return unsubscribe;
}

function logError(error: Error): void {
  console.error(printableError(error));
}
