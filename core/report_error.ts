import { isThenable } from "./maybe_async.ts";
import { printableError } from "./redact/printable.ts";

/**
 * Calls `onError`, or what an application has given in its place. A log that
 * fails must cost nobody an answer, nor the process its life: what it throws,
 * or rejects with, is printed. Nobody waits for it.
 *
 * @param onError The application's function.
 * @param args What it is told.
 */
export function reportError<Args extends readonly unknown[]>(
  onError: (...args: Args) => unknown,
  ...args: Args
): void {
  try {
    const told = onError(...args);
    if (isThenable(told)) Promise.resolve(told).catch(failed);
  } catch (failure) {
    failed(failure);
  }
}

function failed(failure: unknown): void {
  console.error("onError failed:", printableError(failure));
}
