/** How many characters of a name are compared, without marks. */
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
 * Returns a name without case, marks, white space, control characters and
 * invisible ones, and in base letters. Spellings that a database takes for the
 * same account become the same. If some that it keeps apart do too, that does
 * little harm.
 */
export function accountName(name: string): string {
  // Marks in a row are sorted, in a time that grows by the square of their
  // number: a megabyte of them would stop the server for minutes.
  const short = strip(name).slice(0, MAX_NAME);
  return strip(short.normalize("NFKD"))
    // Both, since neither alone has `ß`, `ẞ` and `ss` for the same.
    .toLowerCase().toUpperCase()
    .replace(/[ØĐĦŁŦÆŒ]/g, (letter) => BASE_LETTERS[letter]!);
}

/** Leaves out what a comparison may not see. */
function strip(name: string): string {
  return name.replace(
    /[\p{M}\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\s]+/gu,
    "",
  );
}
