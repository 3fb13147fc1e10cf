/**
 * Listens for the signals that end a process: SIGINT and SIGTERM, or SIGBREAK
 * on Windows.
 *
 * @returns A function that stops listening.
 */
export function listenToSignals(listener: () => void): () => void {
  const names: Deno.Signal[] = Deno.build.os === "windows"
    ? ["SIGINT", "SIGBREAK"]
    : ["SIGINT", "SIGTERM"];
  for (const name of names) Deno.addSignalListener(name, listener);
  return () => {
    for (const name of names) Deno.removeSignalListener(name, listener);
  };
}
