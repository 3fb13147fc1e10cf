/** Globals that tests replace temporarily. */
const NAMES = [
  "Date",
  "WebSocket",
  "clearInterval",
  "clearTimeout",
  "fetch",
  "setInterval",
  "setTimeout",
] as const;
const LOGS = ["debug", "error", "info", "log", "warn"] as const;

const globals = NAMES.map((name) => [name, globalThis[name]] as const);
const logs = LOGS.map((name) => [name, console[name]] as const);

/** Restores all globals. A test that is skipped halfway can't do so itself. */
export function restoreGlobals(): void {
  Object.assign(globalThis, Object.fromEntries(globals));
  Object.assign(console, Object.fromEntries(logs));
}
