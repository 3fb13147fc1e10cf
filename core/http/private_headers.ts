/** Headers of responses that no cache keeps, and whose type browsers don't guess. */
export const PRIVATE_HEADERS: Readonly<Record<string, string>> = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
};
