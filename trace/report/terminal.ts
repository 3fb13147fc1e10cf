/**
 * Standard output, and the texts of spans with colours for it.
 *
 * @module
 */

import {
  attributeText,
  detailOf,
  exceptionOf,
  statementOf,
} from "../export/attributes.ts";
import type { SpanData } from "../types.ts";

/** The output of a reporter. */
export interface StandardOutput {
  /** Writes a whole text synchronously. */
  write(text: string): void;
  /** Whether it is a terminal. */
  isTerminal(): boolean;
  /** Returns the columns of the terminal, or 120 if they are unknown. */
  columns(): number;
  /** Reads an environment variable, if that is allowed. */
  env(name: string): string | undefined;
  /** Returns the working directory, if reading it is allowed. */
  cwd(): string | undefined;
}

/** Some terminals report zero columns. */
const DEFAULT_WIDTH = 120;

const encoder = new TextEncoder();

const ofDeno: StandardOutput = {
  write(text) {
    let rest = encoder.encode(text);
    while (rest.length > 0) rest = rest.subarray(Deno.stdout.writeSync(rest));
  },
  isTerminal: () => Deno.stdout.isTerminal(),
  columns: () => attempt(() => Deno.consoleSize().columns) || DEFAULT_WIDTH,
  env: (name) =>
    isGranted({ name: "env", variable: name }) ? Deno.env.get(name) : undefined,
  cwd: () =>
    isGranted({ name: "read", path: "." })
      ? attempt(() => Deno.cwd())
      : undefined,
};

/** Whether something is allowed. Without asking, it could open a prompt. */
function isGranted(permission: Deno.PermissionDescriptor): boolean {
  return Deno.permissions.querySync(permission).state === "granted";
}

/** Other runtimes have Node's `process` too. */
type Process = typeof import("node:process");

function ofProcess({ env, stdout, cwd }: Process): StandardOutput {
  return {
    write: (text) => void stdout.write(text),
    isTerminal: () => stdout.isTTY === true,
    columns: () => stdout.columns || DEFAULT_WIDTH,
    env: (name) => env[name],
    // It throws if the directory was deleted.
    cwd: () => attempt(cwd),
  };
}

/** Finds the standard output of this process. */
export function standardOutput(): StandardOutput {
  return "Deno" in globalThis
    ? ofDeno
    : ofProcess((globalThis as unknown as { process: Process }).process);
}

function attempt<T>(fn: () => T): T | undefined {
  try {
    return fn();
  } catch {
    return undefined;
  }
}

/** Colours and weights of a terminal (ECMA-48 §8.3.117). */
const CODES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  blue: [34, 39],
  magenta: [35, 39],
  cyan: [36, 39],
} as const;

/** A colour or weight. */
export type Style = keyof typeof CODES;

/** Styles a text, unless colours are off. */
export type Paint = (style: Style, text: string) => string;

/** Creates a function that styles text. */
export function createPaint(color: boolean): Paint {
  return (style, text) => {
    const [on, off] = CODES[style];
    return color && text !== "" ? `\x1b[${on}m${text}\x1b[${off}m` : text;
  };
}

/**
 * Whether to use colours: decided by `NO_COLOR` (no-color.org), then by
 * `FORCE_COLOR`, then by whether the output is a terminal.
 */
export function wantsColor({ env, isTerminal }: StandardOutput): boolean {
  if (env("NO_COLOR")) return false;
  const force = env("FORCE_COLOR");
  if (force !== undefined) return force !== "0" && force !== "false";
  return isTerminal();
}

/**
 * Whether to print hyperlinks (OSC 8): decided by `FORCE_HYPERLINK`, then by
 * whether the output is a terminal that is known to take them. Others may print
 * the URL's control characters. The multiplexers tmux and screen don't say what
 * the terminal around them takes.
 */
export function wantsLinks({ env, isTerminal }: StandardOutput): boolean {
  const force = env("FORCE_HYPERLINK");
  if (force !== undefined) return force !== "0" && force !== "false";
  const term = env("TERM") ?? "";
  if (!isTerminal() || env("TMUX") || OTHER_TERMS.test(term)) return false;
  return TERMS.test(term) || PROGRAMS.test(env("TERM_PROGRAM") ?? "") ||
    Boolean(env("WT_SESSION") || env("KONSOLE_VERSION")) ||
    // Version 0.50.0 of VTE crashes on them.
    Number(env("VTE_VERSION") ?? 0) > 5000;
}

const OTHER_TERMS = /^(?:dumb|screen|tmux)/;
const TERMS = /^(?:alacritty|foot|xterm-ghostty|xterm-kitty)/;
const PROGRAMS = /^(?:iTerm\.app|WezTerm|vscode|ghostty|Hyper)$/;

/** Makes a text a link (OSC 8). The URL has no control characters. */
export function hyperlink(url: string, text: string): string {
  return `\x1b]8;;${url}\x1b\\${text}\x1b]8;;\x1b\\`;
}

/** Cuts a text that is longer than `width` characters. */
export function truncate(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, width - 1)}…`;
}

/** Minimum characters of a detail before a result that is too long. */
const MIN_DETAIL = 12;

/**
 * Returns a short text for the work of a span. Only its detail, such as the key
 * of a cache, is cut to fit the width, because the result matters more.
 */
export function actionOf(span: SpanData, width = Infinity): string {
  const statement = statementOf(span);
  if (statement !== undefined) return statement.replace(/\s+/g, " ").trim();
  const detail = detailOf(span);
  if (detail !== undefined && span.layer === "routing") return detail;
  const result = attributeText(span, "app.reason", "app.cache.result") ??
    refusalOf(span);
  // The line of a failed span ends with its message.
  const isSaid = result?.endsWith(messageOf(span) ?? "\n");
  const ending = isSaid || result === undefined ? "" : ` ${result}`;
  if (detail === undefined || detail === result) return span.name + ending;
  const room = width - span.name.length - ending.length - 1;
  const shown = ending === ""
    ? detail
    : truncate(detail, Math.max(MIN_DETAIL, room));
  return `${span.name} ${shown}${ending}`;
}

/** Returns the code of a call that was refused without a failure. */
export function refusalOf(span: SpanData): string | undefined {
  return span.status === "ok"
    ? attributeText(span, "rpc.status_code")
    : undefined;
}

/** Returns why such a call was refused, or its code if that isn't known. */
export function refusalReasonOf(span: SpanData): string | undefined {
  const code = refusalOf(span);
  return code === undefined
    ? undefined
    : attributeText(span, "app.reason")?.replace(/^refused: /, "") ?? code;
}

/**
 * Returns the problem of a span, such as `TypeError: x is undefined`, or an
 * empty text. It may have control characters.
 */
export function failureOf(span: SpanData): string {
  if (span.status === "ok") return "";
  if (span.status === "timeout") return "did not end";
  const { "error.type": known } = span.attributes;
  // The type of a request's error is its status, which the line has already.
  const type = known === undefined || /^[45]\d\d$/.test(`${known}`)
    ? exceptionOf(span)?.attributes?.["exception.type"] ?? known
    : known;
  return [typeof type === "string" ? type : "error", messageOf(span)]
    .filter((part) => part !== undefined).join(": ");
}

export function messageOf(span: SpanData): string | undefined {
  const message = exceptionOf(span)?.attributes?.["exception.message"];
  return typeof message === "string" && message !== "" ? message : undefined;
}

/**
 * Formats a duration with three significant digits: `0.12ms`, `12.3ms`,
 * `1.23s`.
 */
export function formatDuration(milliseconds: number): string {
  if (milliseconds >= 1000) return `${(milliseconds / 1000).toFixed(2)}s`;
  return `${milliseconds.toFixed(milliseconds >= 10 ? 1 : 2)}ms`;
}
