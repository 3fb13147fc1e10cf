/**
 * Reads the stack of an error, as V8, SpiderMonkey and JavaScriptCore write it.
 *
 * @module
 */

/** Parts of the paths of libraries and runtimes. */
const FOREIGN = [
  "/node_modules/",
  "/@quartet/kit/",
  "://jsr.io/",
  "://esm.sh/",
  "://deno.land/",
];

/** The beginnings of such paths. */
const FOREIGN_STARTS = ["ext:", "node:", "npm:", "jsr:", "internal/", "native"];

/** Reads the lines of a stack. Joined again, they are the same text. */
export function readStack(stack: string) {
  return stack.split("\n").map(readLine);
}

function readLine(line: string) {
  const [from, to] = placeIn(line);
  const place = line.slice(from, to);
  return {
    /** The text before the place, such as `    at load (`. */
    before: line.slice(0, from),
    /** Its path, line and column. Empty if the line names none. */
    place,
    /** The text after the place. */
    after: line.slice(to),
    /** Whether the place is in the project, and not in a library or runtime. */
    own: place !== "" && !FOREIGN.some((part) => place.includes(part)) &&
      !FOREIGN_STARTS.some((start) => place.startsWith(start)),
  };
}

/** Returns where the place is in a line; an empty range for none. */
function placeIn(line: string): [from: number, to: number] {
  const end = line.trimEnd().endsWith(")")
    ? line.lastIndexOf(")")
    : line.trimEnd().length;
  const text = line.slice(0, end);
  const at = text.indexOf("at ");
  const isV8 = at >= 0 && text.slice(0, at).trim() === "";
  const open = text.lastIndexOf("(");
  const from = isV8
    ? open >= 0 && end < line.length
      ? open + 1
      : text.startsWith("async ", at + 3)
      ? at + 9
      : at + 3
    // The name of a function has no `@`, but a path may.
    : text.indexOf("@") + 1;
  const isFrame = (isV8 || from > 0) && /[^]:\d+$/.test(text.slice(from));
  return isFrame ? [from, end] : [end, end];
}

/** Returns a place as editors and terminals read it: without `file://`. */
export function pathOfPlace(place: string): string {
  if (!place.startsWith("file://")) return place;
  const path = place.slice("file://".length);
  try {
    // Windows: file:///C:/a.ts
    const decoded = decodeURIComponent(path);
    return decoded.charAt(2) === ":" ? decoded.slice(1) : decoded;
  } catch {
    return path;
  }
}
