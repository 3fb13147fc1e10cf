/**
 * Inserts a tag at the start of a document's head while its bytes pass through.
 *
 * @module
 */

import { concatBytes } from "../../core/bytes/bytes.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** Returns a character for each byte, which is the same for ASCII. */
const characters = new TextDecoder("latin1");

/** The parts of a document before the content of its head. */
const PART =
  /[\t\n\f\r ]+|<!--[^]*?-->|<!doctype[^>]*>|<(?:html|head)(?=[\t\n\f\r />])(?:[^>"']|"[^"]*"|'[^']*')*>/iy;

/** The bytes of UTF-8's byte order mark. */
const MARK = "\xEF\xBB\xBF";

const STARTS = ["<!--", "<!doctype", "<html", "<head"];

/**
 * Maximum bytes of a chunk that are looked at, and characters before the head.
 * Each small chunk before the head is looked at together with the earlier ones.
 */
const MAX_PROLOGUE = 16 * 1024;

/** Where the tag goes. */
type Place =
  | { readonly kind: "here"; readonly at: number }
  /** Unknown as yet. From `at` on, a tag may begin before which it goes. */
  | { readonly kind: "later"; readonly at: number }
  /** Nowhere, because the text isn't a document. */
  | { readonly kind: "none" };

/**
 * Creates a stream that inserts a tag after `<head>`, or where a document
 * without that tag has its first element. A text that begins with neither
 * `<!doctype>` nor `<html>` isn't changed. No chunk waits for the next one, apart
 * from the first characters of a tag.
 *
 * @param tagFor Called with the text after the place, as far as it is known.
 * Returns the tag, or `undefined` to leave the document as it is.
 */
export function createInsertion(
  tagFor: (rest: string) => string | undefined,
): TransformStream<Bytes, Bytes> {
  /** The text so far. */
  let text = "";
  /** The bytes at its end that weren't sent. */
  let held: Bytes = new Uint8Array();
  let isDone = false;

  function insert(bytes: Bytes): Bytes {
    const sent = text.length;
    text += characters.decode(bytes.subarray(0, MAX_PROLOGUE));
    const place = findPlace(text);
    if (place.kind === "later" && text.length < MAX_PROLOGUE) {
      const end = place.at - sent;
      held = bytes.slice(end);
      text = text.slice(0, place.at);
      return bytes.subarray(0, end);
    }
    isDone = true;
    if (place.kind !== "here") return bytes;
    const tag = tagFor(text.slice(place.at));
    if (tag === undefined) return bytes;
    const at = place.at - sent;
    const added = new TextEncoder().encode(tag);
    return concatBytes([bytes.subarray(0, at), added, bytes.subarray(at)]);
  }

  return new TransformStream({
    transform(chunk, controller) {
      // The server reports chunks of other types.
      if (isDone || !(chunk instanceof Uint8Array)) {
        return controller.enqueue(chunk);
      }
      const bytes = held.length === 0 ? chunk : concatBytes([held, chunk]);
      held = new Uint8Array();
      const passed = insert(bytes);
      if (passed.length > 0) controller.enqueue(passed);
    },
    flush(controller) {
      if (held.length > 0) controller.enqueue(held);
    },
  });
}

function findPlace(text: string): Place {
  if (MARK.startsWith(text)) return { kind: "later", at: 0 };
  let at = text.startsWith(MARK) ? 3 : 0;
  let isDocument = false;
  for (;;) {
    PART.lastIndex = at;
    const [part] = PART.exec(text) ?? [];
    if (part === undefined) break;
    at += part.length;
    const start = part.slice(0, 3).toLowerCase();
    if (start === "<he") return { kind: "here", at };
    if (start === "<!d" || start === "<ht") isDocument = true;
  }
  const rest = text.slice(at, at + 10).toLowerCase();
  if (STARTS.some((start) => start.startsWith(rest))) {
    return { kind: "later", at };
  }
  // A part without its end. The place comes after that.
  if (STARTS.some((start) => isUnfinished(rest, start))) {
    return { kind: "later", at: text.length };
  }
  return isDocument ? { kind: "here", at } : { kind: "none" };
}

function isUnfinished(rest: string, start: string): boolean {
  return rest.startsWith(start) &&
    (start.startsWith("<!") || /[\s/>]/.test(rest[start.length]!));
}
