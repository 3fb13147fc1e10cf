/**
 * Formats the arguments of a console method as the console itself does.
 *
 * @module
 */

import { Console } from "node:console";
import { Writable } from "node:stream";
import type { InspectOptions } from "node:util";

/** The captured methods, with the severity of their logs. */
export const SEVERITIES = {
  log: "info",
  info: "info",
  debug: "debug",
  warn: "warn",
  error: "error",
  assert: "error",
  trace: "debug",
  dir: "info",
  dirxml: "info",
  table: "info",
  group: "info",
  groupCollapsed: "info",
} as const;

/** A console method whose text is captured. */
export type LogMethod = keyof typeof SEVERITIES;

/** The severity of a log. */
export type Severity = typeof SEVERITIES[LogMethod];

/** Levels of objects that are shown, as in Deno's console. */
const DEPTH = 4;

/** Returns the text that a console would print, without the last line break. */
export type FormatLog = (method: LogMethod, args: readonly unknown[]) => string;

/** Creates a formatter that never throws. It runs no getters. */
export function createLogFormat(color: boolean): FormatLog {
  let text = "";
  const sink = new Writable({ decodeStrings: false });
  // The console's formatting needs the text at once.
  sink.write = (chunk: unknown) => {
    text += chunk;
    return true;
  };
  const own = new Console({
    stdout: sink,
    stderr: sink,
    colorMode: color,
    inspectOptions: { depth: DEPTH },
  });

  function print(method: LogMethod, args: readonly unknown[]): void {
    switch (method) {
      case "assert":
        return own.assert(false, ...args.slice(1) as [string?]);
      case "dir":
        return own.dir(args[0], {
          depth: DEPTH,
          ...args[1] as InspectOptions | undefined,
        });
      case "table":
        return own.table(...args as [unknown, string[]?]);
      case "trace":
        text = args.length === 0 ? "Trace" : "Trace: ";
        own.log(...args);
        text += stackOfCaller();
        return;
      default:
        return own.log(...args);
    }
  }

  return (method, args) => {
    text = "";
    try {
      print(method, args);
    } catch {
      // A function of the app, such as an `inspect()` of its own, threw.
      return "(a value that can't be inspected)";
    }
    return text.replace(/\n$/, "");
  };
}

/** Frames of a stack above the app's call, in this folder. */
const OWN_FRAME = /\/dev\/logs\/(?:console_text|capture_console)\.[jt]s/;

function stackOfCaller(): string {
  const frames = new Error().stack?.split("\n").slice(1) ?? [];
  return frames.filter((frame) => !OWN_FRAME.test(frame)).join("\n");
}
