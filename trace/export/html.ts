/** Recorded traces for the viewer's page. */
export interface TraceBlock {
  /** `json` is a JSON array of traces, `packed` what `packTraces` makes. */
  readonly encoding: "json" | "packed";
  /** The traces in that encoding. */
  readonly text: string;
}

/** The start of the page's element for traces. */
const START = '<script type="application/json" id="trace-data" data-encoding="';

/** The rest of the element. Its content never contains `<`. */
const REST = /[a-z]+">[^<]*<\/script>/y;

/**
 * Characters that the element must escape. `<` could close the element or open
 * a comment. `>` and `&` matter in XHTML. Old scripts treat line separators as
 * line ends. UTF-8 can't represent halves of surrogate pairs. In JSON, all of
 * them occur only in strings, where an escape means the same.
 */
const UNSAFE = /[<>&\u2028\u2029\p{Surrogate}]/gu;

/** Base64, with optional white space. */
const BASE64 = /^[A-Za-z\d+/=\s]*$/;

/**
 * Inserts traces into the viewer's page. They replace its present ones. No
 * recorded string can end the data block.
 *
 * @param html The page, with exactly one `<script type="application/json"
 * id="trace-data" data-encoding="none"></script>`.
 * @param block The traces and how they are encoded.
 * @returns The page with the traces in it.
 * @throws {TypeError} If the page isn't the viewer's, or `packed` text isn't
 * base64.
 *
 * @example
 * ```ts
 * import { insertTraceData } from "./html.ts";
 *
 * const page =
 *   '<script type="application/json" id="trace-data" data-encoding="none"></script>';
 * const html = insertTraceData(page, { encoding: "json", text: '["</script>"]' });
 * console.assert(html.includes('data-encoding="json">["\\u003c/script\\u003e"]<'));
 * ```
 */
export function insertTraceData(html: string, block: TraceBlock): string {
  const places = placesOf(html);
  const place = places[0];
  if (place === undefined || places.length > 1) {
    throw new TypeError(
      "Cannot insert traces: the page must have exactly one " +
        '<script type="application/json" id="trace-data"> element, ' +
        `received one with ${places.length}`,
    );
  }
  if (block.encoding === "packed" && !BASE64.test(block.text)) {
    throw new TypeError(
      "Cannot insert traces: packed text must be base64, " +
        "received other characters",
    );
  }
  const element =
    `<script type="application/json" id="trace-data" data-encoding="${block.encoding}">` +
    `${block.text.replace(UNSAFE, escape)}</script>`;
  return html.slice(0, place.start) + element + html.slice(place.end);
}

function placesOf(html: string): { start: number; end: number }[] {
  const places: { start: number; end: number }[] = [];
  let start = -1;
  while ((start = html.indexOf(START, start + 1)) !== -1) {
    REST.lastIndex = start + START.length;
    if (REST.test(html)) places.push({ start, end: REST.lastIndex });
  }
  return places;
}

function escape(character: string): string {
  return "\\u" + character.charCodeAt(0).toString(16).padStart(4, "0");
}
