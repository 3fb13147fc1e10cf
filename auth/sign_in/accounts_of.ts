import { accountName } from "./account_name.ts";

/** The fields in which credentials commonly name an account. */
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

/**
 * Returns the normalized names of all accounts that credentials may be for. A
 * field that the provider ignores counts too. Otherwise the limit of the account
 * in the other field could be evaded.
 */
export function accountsOf(
  credentials: Readonly<Record<string, unknown>>,
): string[] {
  const names = FIELDS.map((field) => textOf(credentials[field]))
    .filter((name) => name !== "");
  return [...new Set(names.map(accountName))];
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
