import type { CallMessage } from "../protocol.ts";
import type { Answer, Exchange } from "./exchange.ts";

/** Adds a call to the next batch and gives its answer. */
export type Enqueue = (
  message: CallMessage,
  signal?: AbortSignal,
) => Promise<Answer>;

/** Makes what collects the calls of a tick and sends `max` of them as one. */
export type Batching = (
  url: string,
  max: number,
  exchange: Exchange,
) => Enqueue;

/** The one way to do it; a client without batches doesn't bring it along. */
export const batching: Batching = (url, max, exchange) => {
  const waiting: [CallMessage, (answer: Promise<Answer>) => void][] = [];

  function send(calls: typeof waiting): void {
    const answer = exchange(url, {}, {
      batch: calls.map(([message]) => message),
    });
    calls.forEach(([, resolve], i) =>
      resolve(
        answer.then((all) => all.ok ? (all.data as Answer[])[i]! : all),
      )
    );
  }

  return (message, signal) =>
    new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      // Once the microtasks of this tick have made all the calls they make.
      if (!waiting.length) {
        setTimeout(() => {
          while (waiting.length) send(waiting.splice(0, max));
        });
      }
      waiting.push([message, resolve]);
      // The others still want their answers, so the batch goes on without it.
      signal?.addEventListener("abort", () => reject(signal.reason));
    });
};
