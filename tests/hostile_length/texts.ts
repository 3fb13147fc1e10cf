/**
 * Long texts that could slow down a parser (ReDoS), and the check that none
 * does.
 *
 * @module
 */

import { assertLinear, LONG, SHORT } from "../growth.ts";

/** Creates a text of a given length. */
export type Text = (length: number) => string;

export function repeat(text: string, start = "", end = ""): Text {
  return (length) =>
    start + text.repeat(Math.ceil(length / text.length)).slice(0, length) + end;
}

/** Creates a text of numbered parts, so that no two are equal. */
export function numbered(part: (index: number) => string): Text {
  return (length) => {
    let text = "";
    for (let index = 0; text.length < length; index++) text += part(index);
    return text;
  };
}

/** Delimiters and near-misses of the formats that the kit parses. */
export const TEXTS: readonly Text[] = [
  ..."a0 ;,=\"'\\%/-._:[]{}()<>*&?#@+|~\xe9",
  ...["a=b; ", "a,", "a, ", '"a",', 'W/"a", ', "%41", "%", "%4", "..", "/.."],
  ...["/./", "//", "a.b.", "&a=b", "a=1&", '="', "--", "/*", "\t", "\\\\"],
  ...[" ;", "; ", ", ", "max-age=1,", "no-cache=", "private ", "00-", "0-0"],
  ...["::", "1:", "1.", "?a", "@a", "http://", "a://a@", "é".normalize()],
].map((text) => repeat(text));

/** Asserts that work on each of the texts takes linear time. */
export async function assertAllLinear<Input = string>(
  name: string,
  texts: readonly Text[],
  run: (input: Input) => unknown,
  { prepare = (text) => text as Input, lengths = [SHORT, LONG] }: {
    /** Creates the input from the text. Default: the text itself. */
    readonly prepare?: (text: string) => Input;
    readonly lengths?: readonly [short: number, long: number];
  } = {},
): Promise<void> {
  for (const text of texts) {
    const sample = JSON.stringify(text(12).slice(0, 40));
    await assertLinear(`${name} of ${sample}`, {
      prepare: (length) => prepare(text(length)),
      run,
      lengths,
    });
  }
}

/** Runs code with a silent console. The kit still writes its log texts. */
export async function silently(work: () => Promise<void>): Promise<void> {
  const { error, warn, log } = console;
  console.error = console.warn = console.log = () => {};
  try {
    await work();
  } finally {
    Object.assign(console, { error, warn, log });
  }
}
