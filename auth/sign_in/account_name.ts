/** Maximum characters of a name that are compared, without marks. */
const MAX_NAME = 1_024;

/** Letters with a stroke and ligatures, which Unicode doesn't decompose. */
const BASE_LETTERS: Readonly<Record<string, string>> = {
  Ø: "O",
  Đ: "D",
  Ħ: "H",
  Ł: "L",
  Ŧ: "T",
  Æ: "AE",
  Œ: "OE",
};

/**
 * Normalizes an account name. It ignores case, marks, white space, control
 * characters and invisible characters. Spellings that a database treats as one
 * account become equal. Some that it keeps apart may too, which does little
 * harm.
 */
export function accountName(name: string): string {
  // Sorting marks in a row takes quadratic time. A megabyte of them would block
  // the server for minutes.
  const short = strip(name).slice(0, MAX_NAME);
  return strip(short.normalize("NFKD"))
    // Only both together make `ß`, `ẞ` and `ss` equal.
    .toLowerCase().toUpperCase()
    .replace(/[ØĐĦŁŦÆŒ]/g, (letter) => BASE_LETTERS[letter]!);
}

/** Removes characters that a comparison may ignore. */
function strip(name: string): string {
  return name.replace(
    /[\p{M}\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\s]+/gu,
    "",
  );
}
