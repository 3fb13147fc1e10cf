import process from "node:process";

/** Events before the end of a process. Deno's errors and exits emit no `exit`. */
const EVENTS = ["unload", "error", "unhandledrejection"] as const;

/**
 * Calls a function when the process ends, or fails.
 *
 * @returns A function that removes it.
 */
export function atExit(fn: () => void): () => void {
  process.on("exit", fn);
  // Node has no global events.
  for (const type of EVENTS) globalThis.addEventListener?.(type, fn);
  return () => {
    process.off("exit", fn);
    for (const type of EVENTS) globalThis.removeEventListener?.(type, fn);
  };
}
