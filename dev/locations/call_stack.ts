/**
 * Captures call stacks, and finds the first line of user code in them.
 *
 * Capturing takes a few microseconds. Formatting a stack takes 20 times as long on
 * Deno, because it maps each frame to its source. So Deno's frames are read one
 * by one, and only the user's is mapped.
 *
 * @module
 */

import { HOST, toPath, userFile } from "./user_files.ts";

/** Frames of a captured stack. The kit and an ORM take about 12 of them. */
const MAX_FRAMES = 16;
/** Maximum characters of a frame's text. */
const MAX_LENGTH = 4_096;

const isDeno = "Deno" in globalThis;

/** A function or a class. */
export type Callable = Parameters<typeof Error.captureStackTrace>[1];

/** The attributes of a line. */
export type CodeLine = {
  readonly "code.file.path": string;
  readonly "code.line.number": number;
};

/** A frame, as V8 describes it to `Error.prepareStackTrace`. */
interface CallSite {
  getFileName(): string | null | undefined;
  getLineNumber(): number | null;
  getScriptNameOrSourceURL(): string | null | undefined;
}

/** A call stack. It is read at most once. */
export class CallStack {
  /** The frames until they are read. They keep the variables of functions. */
  #captured: { readonly stack?: unknown } | undefined = {};
  #line: CodeLine | undefined;

  /**
   * Captures the running call stack.
   *
   * @param caller Frames up to this function's call are left out. Default: none.
   */
  constructor(caller?: Callable) {
    const { stackTraceLimit } = Error;
    // An app may have frozen `Error`. Then its limit holds.
    Reflect.set(Error, "stackTraceLimit", MAX_FRAMES);
    try {
      Error.captureStackTrace(this.#captured!, caller);
    } catch {
      // Bun formats it at once, by `Error.prepareStackTrace` of the app.
      this.#captured = undefined;
    } finally {
      Reflect.set(Error, "stackTraceLimit", stackTraceLimit);
    }
  }

  /** Returns the first line of user code, if there is one. */
  line(): CodeLine | undefined {
    const captured = this.#captured;
    if (captured === undefined) return this.#line;
    this.#captured = undefined;
    try {
      return this.#line = isDeno
        ? readFrames(captured)
        : userLine(String(captured.stack));
    } catch {
      // The app's `Error.prepareStackTrace` threw.
      return undefined;
    }
  }
}

/** Returns the first line of user code of a captured stack, on Deno. */
function readFrames(
  captured: { readonly stack?: unknown },
): CodeLine | undefined {
  const before = Error.prepareStackTrace;
  const isSet = Reflect.set(
    Error,
    "prepareStackTrace",
    (_: unknown, frames: unknown) => frames,
  );
  let sites: unknown;
  try {
    sites = captured.stack;
  } finally {
    if (isSet) Error.prepareStackTrace = before;
  }
  if (!Array.isArray(sites)) return userLine(String(sites));
  for (const site of sites as CallSite[]) {
    const script = site.getScriptNameOrSourceURL();
    const file = script ? userFile(script) : undefined;
    if (file === HOST) return undefined;
    const line = file === undefined ? null : site.getLineNumber();
    if (line === null) continue;
    // The source of a bundle is another file. Asking for it maps it again.
    const isSource = /\.[cm]?tsx?$/.test(file!);
    return codeLine(isSource ? file! : site.getFileName() ?? file!, line);
  }
  return undefined;
}

/** Returns the first line of user code in a stack's text. */
export function userLine(stack: string): CodeLine | undefined {
  for (const text of stack.split("\n")) {
    const frame = parseFrame(text);
    const file = frame && userFile(frame.script);
    if (file === HOST) return undefined;
    if (file !== undefined) return codeLine(file, frame!.line);
  }
  return undefined;
}

/** Reads a line such as `    at async find (file:///app/posts.ts:41:9)`. */
function parseFrame(
  text: string,
): { script: string; line: number } | undefined {
  const call = text.trimStart();
  // Nothing of a path is known in code of `eval()`.
  if (
    text[0] !== " " || call.length > MAX_LENGTH || !call.startsWith("at ") ||
    call.includes("(eval at ")
  ) return undefined;
  const start = call.lastIndexOf(" (");
  const place = start === -1
    ? call.slice("at ".length).replace(/^async /, "")
    : call.slice(start + 2, -1);
  const match = /:(\d{1,7}):\d{1,7}$/.exec(place);
  return match === null
    ? undefined
    : { script: place.slice(0, match.index), line: Number(match[1]) };
}

function codeLine(file: string, line: number): CodeLine {
  const path = toPath(file) ?? file;
  return { "code.file.path": path, "code.line.number": line };
}
