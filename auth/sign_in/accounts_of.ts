/**
 * The accounts that credentials name, in one spelling.
 *
 * @module
 */

/** The fields that commonly name an account in credentials. */
const FIELDS = [
  "email",
  "username",
  "userName",
  "user",
  "login",
  "name",
  "identifier",
  "account",
  "phone",
  "id",
];

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

/** An account that credentials may be for. */
interface Account {
  /** The name, the same for all spellings. */
  readonly name: string;
  /** The name as it was sent. `undefined` if it was sent in several spellings. */
  readonly spelling: string | undefined;
}

/**
 * Returns all accounts that credentials may be for. A field that the provider
 * ignores counts too. Otherwise the limit of the account in the other field
 * could be evaded.
 */
export function accountsOf(
  credentials: Readonly<Record<string, unknown>>,
): Account[] {
  const spellings = new Map<string, string | undefined>();
  for (const field of FIELDS) {
    const text = textOf(credentials[field]);
    if (text === "") continue;
    const name = accountName(text);
    const isOther = spellings.has(name) && spellings.get(name) !== text;
    spellings.set(name, isOther ? undefined : text);
  }
  return Array.from(spellings, ([name, spelling]) => ({ name, spelling }));
}

/**
 * Normalizes an account name. It ignores case, marks, white space, control
 * characters and invisible characters. Spellings that a database treats as one
 * account become equal. Some that it keeps apart may too: then they share their
 * failures.
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

/**
 * Returns the text that a provider may make of a value: `["ada"]` becomes `ada`.
 * Objects and booleans name no account.
 */
function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "bigint") return `${value}`;
  if (!Array.isArray(value)) return "";
  // Joining nested arrays can take long, so all of them count as one account.
  return value.some(isNested) ? "[]" : value.join();
}

function isNested(value: unknown): boolean {
  return Object(value) === value || typeof value === "symbol";
}
