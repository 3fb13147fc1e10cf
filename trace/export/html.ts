/** Recorded traces for the viewer's page. */
export interface TraceBlock {
  /** `json` is a JSON array of traces, `packed` what `packTraces` makes. */
  readonly encoding: "json" | "packed";
  /** The traces in that encoding. */
  readonly text: string;
}

/**
 * The start of the page's element for traces. Its content never contains `<`,
 * so the next end tag is its own.
 */
const START = '<script type="application/json" id="trace-data" data-encoding="';
const END = "</script>";

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
  const parts = html.split(START);
  const [before, present] = parts;
  if (present === undefined || parts.length > 2) {
    throw new TypeError(
      "Cannot insert traces: the page must have exactly one " +
        '<script type="application/json" id="trace-data"> element, ' +
        `received one with ${parts.length - 1}`,
    );
  }
  if (block.encoding === "packed" && !BASE64.test(block.text)) {
    throw new TypeError(
      "Cannot insert traces: packed text must be base64, received other characters",
    );
  }
  return `${before}${START}${block.encoding}">` +
    block.text.replace(UNSAFE, escape) +
    present.slice(present.indexOf(END));
}

function escape(character: string): string {
  return "\\u" + character.charCodeAt(0).toString(16).padStart(4, "0");
}
