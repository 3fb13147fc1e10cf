/**
 * Subscriptions of a caller on the server: their values one by one, or handed
 * over as a client does it.
 *
 * @module
 */

import { printableError } from "../../core/redact/printable.ts";
import { reportError } from "../../core/report_error.ts";
import type { SubscriptionHandlers } from "../procedure/calls.ts";
import { Tracked } from "../procedure/tracked.ts";
import type { Call, Endpoint } from "./call.ts";
import { checkOutput, perform, toIterator } from "./run.ts";

/** Yields the values of a subscription. It begins with the first `next()`. */
export function iterate(
  endpoint: Endpoint,
  call: Call,
  input: unknown,
): AsyncGenerator<unknown> {
  const iterator = values(endpoint, call, input);
  const leave = iterator.return.bind(iterator);
  // A generator that waits would keep the one waiting who wants it to stop:
  // the procedure is told by its signal.
  iterator.return = (value) => {
    call.abandon(new DOMException("The subscription was left", "AbortError"));
    return leave(value);
  };
  return iterator;
}

async function* values(
  endpoint: Endpoint,
  call: Call,
  input: unknown,
): AsyncGenerator<unknown> {
  const stream = await perform(
    endpoint,
    call,
    input,
    (output) => toIterator(output, call.path),
  );
  try {
    for (;;) {
      const { done, value } = await stream.next();
      if (done) return;
      yield await checkOutput(
        endpoint.procedure,
        call.path,
        value instanceof Tracked ? value.value : value,
      );
    }
  } finally {
    call.settle();
    await stream.return?.();
  }
}

/**
 * Passes the values of a subscription to handlers. What `onData` or
 * `onComplete` throws ends it, as it would end a loop, and is told to `onError`.
 *
 * @param begin Gives the values, or throws why there are none.
 * @param signal Unsubscribes.
 * @returns A function that unsubscribes. No handler is called after that.
 */
export function handOver(
  begin: () => AsyncGenerator<unknown>,
  { onData, onError = logError, onComplete }: SubscriptionHandlers<
    unknown
  >,
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
    // How it takes that is nobody's business any more.
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
      // The caller gets what unsubscribes before it gets an error.
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
