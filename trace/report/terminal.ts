/**
 * Text for a terminal: colours where they are wanted.
 *
 * @module
 */

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

/** Gives a text a style, or leaves it as it is where colours are off. */
export type Paint = (style: Style, text: string) => string;

/** Makes the function that styles text. */
export function createPaint(color: boolean): Paint {
  return color
    ? (style, text) => {
      const [on, off] = CODES[style];
      return text === "" ? "" : `\x1b[${on}m${text}\x1b[${off}m`;
    }
    : (_style, text) => text;
}

/**
 * Whether to use colours: `NO_COLOR` (no-color.org) speaks first, then
 * `FORCE_COLOR`, then whether the output is a terminal.
 */
export function wantsColor(
  env: (name: string) => string | undefined,
  isTerminal: boolean,
): boolean {
  if (env("NO_COLOR")) return false;
  const force = env("FORCE_COLOR");
  if (force !== undefined) return force !== "0" && force !== "false";
  return isTerminal;
}

/** Cuts a text that is longer than `width` characters. */
export function truncate(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, width - 1)}…`;
}
