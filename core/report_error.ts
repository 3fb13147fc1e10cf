import { isThenable } from "./maybe_async.ts";
import { printableError } from "./redact/printable.ts";

/**
 * Calls an application's `onError`. If it throws or rejects, prints that error, so
 * that a failing log neither fails a request nor ends the process. Doesn't wait
 * for a returned promise.
 *
 * @param onError The application's function.
 * @param args Its arguments.
 */
export function reportError<Args extends readonly unknown[]>(
  onError: (...args: Args) => unknown,
  ...args: Args
): void {
  try {
    const result = onError(...args);
    if (isThenable(result)) Promise.resolve(result).catch(printFailure);
  } catch (failure) {
    printFailure(failure);
  }
}

/** The default of `onError`: prints an error that is safe to show. */
export function logMessage({ message }: Error): void {
  console.error(message);
}

function printFailure(failure: unknown): void {
  console.error("onError failed:", printableError(failure));
}
