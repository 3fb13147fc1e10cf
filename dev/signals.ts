import process from "node:process";
import { SHUTDOWN_TIMEOUT } from "./dev_server.ts";

const SIGNALS = process.platform === "win32"
  ? ["SIGINT", "SIGBREAK"] as const
  : ["SIGINT", "SIGTERM"] as const;

/** An environment variable. It survives restarts, which are in one process. */
const ENDING = "QUARTET_DEV_ENDING";

const WRITE_NOTE = { name: "env", variable: ENDING } as const;
const SEND_SIGNAL = { name: "run" } as const;

/** Whether Deno allows an operation. Otherwise it would throw, or prompt. */
function isAllowed(operation: typeof WRITE_NOTE | typeof SEND_SIGNAL): boolean {
  return !("Deno" in globalThis) ||
    Deno.permissions.querySync(operation).state === "granted";
}

/**
 * Calls the listener on the first signal. A signal after the time for a shutdown
 * ends the process.
 *
 * @returns Ends Deno's `--watch` if it doesn't end by itself. To be called when all
 * is done, because the watcher waits half a second at most.
 */
export function onFirstSignal(listener: () => void): () => Promise<void> {
  let first: number | undefined;
  let finish = () => Promise.resolve();
  for (const name of SIGNALS) process.on(name, () => handle(name));
  if (isAllowed(WRITE_NOTE) && process.env[ENDING] !== undefined) {
    queueMicrotask(() => handle("SIGTERM"));
  }
  return () => finish();

  function handle(name: NodeJS.Signals): void {
    if (first === undefined) {
      first = performance.now();
      const mayBeWatched = "Deno" in globalThis && isAllowed(SEND_SIGNAL);
      if (name === "SIGTERM" && mayBeWatched) finish = endWatcher;
      listener();
      return;
    }
    // The watcher sends one, so another one asks for the end.
    if (name === "SIGTERM" && isAllowed(WRITE_NOTE)) process.env[ENDING] = "1";
    if (performance.now() - first > SHUTDOWN_TIMEOUT * 1_000) process.exit(1);
  }
}

/**
 * Ends Deno's `--watch`. It runs in this process, and after the program's end it
 * waits for a changed file: SIGTERM ends the program, and only SIGINT the watcher.
 * For a restart, the watcher itself sends SIGTERM. It then ignores SIGINT.
 *
 * Waits for the signal, because the end of the program would remove the listeners,
 * and the signal would then end the process.
 */
function endWatcher(): Promise<void> {
  return new Promise((resolve) => {
    process.once("SIGINT", () => resolve());
    process.kill(process.pid, "SIGINT");
  });
}
