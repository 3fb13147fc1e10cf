import { printableError } from "../redact/printable.ts";

let sockets = 0;

/**
 * Keeps the process alive if a client sends a message that no string can hold,
 * over 512 MiB. Deno has no limit for messages and joins any number of frames.
 * When it fails, it throws in its own reader, where no listener of the socket
 * can catch the error, and an unhandled rejection ends the process.
 *
 * @returns A function to call when a socket closes. The listener is removed
 * with the last one.
 */
export function surviveLongMessages(): () => void {
  if (!("Deno" in globalThis)) return () => {};
  if (sockets++ === 0) addEventListener("unhandledrejection", handle);
  return () => {
    if (--sockets === 0) removeEventListener("unhandledrejection", handle);
  };
}

/** Whether an error comes from Deno's reader of messages. */
export function isLongMessageError(error: unknown): boolean {
  // The promise is Deno's own, so only the stack identifies its reader.
  return error instanceof TypeError &&
    error.stack?.includes("ext:deno_websocket") === true;
}

function handle(event: PromiseRejectionEvent): void {
  const { reason } = event;
  if (!isLongMessageError(reason)) return;
  event.preventDefault();
  console.error("Cannot read a WebSocket message:", printableError(reason));
}
