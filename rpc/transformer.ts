/**
 * Turns values into text and back: `JSON` does, and so do the modules
 * `devalue` and `superjson`, which also carry `Date`, `Map`, `Set`, `bigint`,
 * `undefined` and more. Server and client need the same one.
 */
export interface Transformer {
  /** Gives text from which `parse` makes an equal value. */
  stringify(value: unknown): string;
  /** Gives the value of a text; throws if the text is malformed. */
  parse(text: string): unknown;
}
