/**
 * Texts that could slow down a regular expression (ReDoS). They repeat its
 * characters, its words, and pairs of both.
 *
 * @module
 */

/** A text of any length. */
export type Attack = (length: number) => string;

/** An example character for each class. */
const CLASSES: Readonly<Record<string, string>> = {
  d: "0",
  w: "a",
  s: " ",
  D: "a",
  W: "-",
  S: "a",
  n: "\n",
  r: "\r",
  t: "\t",
  0: "\0",
};

/** Parts to try with every expression. */
const COMMON = [..."a0 /\"'\n.-é"];
/** Maximum number of parts that are repeated in pairs. */
const MAX_PAIRED = 10;

/** Creates the texts for an expression. */
export function attacksOn({ source }: RegExp): Attack[] {
  const { words, characters } = partsOf(source);
  const pumps = new Set([...characters, ...COMMON, ...words]);
  pumps.add(words.join(""));
  pumps.add(words.join(" "));
  const paired = [...characters, ...words].slice(0, MAX_PAIRED);
  for (const a of paired) for (const b of paired) pumps.add(a + b);
  pumps.delete("");
  const starts = ["", words[0] ?? "", words.join(""), "\0"];
  const ends = ["", "\0", `\0${words.at(-1) ?? ""}`];
  const attacks: Attack[] = [];
  for (const pump of pumps) {
    for (const start of new Set(starts)) {
      for (const end of new Set(ends)) {
        attacks.push((length) => {
          const count = Math.ceil(length / pump.length);
          return start + pump.repeat(count).slice(0, length) + end;
        });
      }
    }
  }
  return attacks;
}

/** Returns the literal words of a pattern, and each of its characters once. */
function partsOf(
  source: string,
): { words: string[]; characters: Set<string> } {
  const words: string[] = [];
  const characters = new Set<string>();
  let word = "";
  const endWord = () => {
    if (word.length > 1) words.push(word);
    word = "";
  };
  for (const [token] of source.matchAll(TOKEN)) {
    const character = literalOf(token);
    if (character !== undefined) {
      characters.add(character);
      if (CLASSES[token[1] ?? ""] === undefined) {
        word += character;
        continue;
      }
    } else if (token.startsWith("[")) {
      for (const [member] of token.slice(1, -1).matchAll(TOKEN)) {
        characters.add(literalOf(member) ?? member[0]!);
      }
    }
    endWord();
  }
  endWord();
  return { words, characters };
}

const TOKEN =
  /\\u[\da-f]{4}|\\x[\da-f]{2}|\\[pP]\{\w+\}|\\[^]|\[(?:\\[^]|[^\]\\])*\]|\{\d+(?:,\d*)?\}|\((?:\?(?:[:=!]|<[=!]))?|[^]/gi;

/** Returns an example character for a part of a pattern, if any. */
function literalOf(token: string): string | undefined {
  if (/^\\[ux][\da-f]{2,4}$/i.test(token)) {
    return String.fromCharCode(parseInt(token.slice(2), 16));
  }
  if (/^\\p/i.test(token)) return "\u0301";
  if (/^\\[bB]$/.test(token)) return undefined;
  if (token.startsWith("\\")) return CLASSES[token[1]!] ?? token[1];
  return /^[\^$.|?*+()[\]{}]/.test(token) ? undefined : token;
}
