import { kindOf } from "../../core/check/show.ts";

/** A value of a subscription under an id, made by `tracked()`. */
export class Tracked<T> {
  /** The id that a returning client sends as the last it has seen. */
  readonly id: string;
  /** The value. */
  readonly value: T;

  /** Use `tracked()`. */
  constructor(id: string, value: T) {
    this.id = id;
    this.value = value;
  }
}

/**
 * Gives a value of a subscription an id. A client whose connection broke sends
 * the id of the last value it has seen, and the handler gets it as
 * `lastEventId`, to go on from there.
 *
 * @param id Names the value; not empty, at most 256 characters.
 * @param value What the client gets.
 * @throws {TypeError} If the id is not such a string.
 *
 * @example
 * ```ts
 * import { procedure, tracked } from "@quartet/kit/rpc";
 *
 * const log = ["a", "b", "c"];
 * const lines = procedure.subscription(async function* ({ lastEventId }) {
 *   const from = lastEventId === undefined ? 0 : Number(lastEventId) + 1;
 *   for (let i = from; i < log.length; i++) yield tracked(`${i}`, log[i]);
 * });
 * console.assert(lines.kind === "subscription");
 * ```
 */
export function tracked<T>(id: string, value: T): Tracked<T> {
  if (typeof id === "string" && id !== "" && id.length <= MAX_EVENT_ID) {
    return new Tracked(id, value);
  }
  throw new TypeError(
    `Cannot track value: the id must be a string of 1 to ${MAX_EVENT_ID} characters, received ${
      typeof id === "string" ? `one of ${id.length}` : kindOf(id)
    }`,
  );
}

/** How long the id of a value may be, in UTF-16 code units. */
export const MAX_EVENT_ID = 256;
