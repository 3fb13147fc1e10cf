import { kindOf } from "../../core/check/rules.ts";

/** A value of a subscription with an id, from `tracked()`. */
export class Tracked<T> {
  /** The id, which a returning client sends as its `lastEventId`. */
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
 * Adds an id to a value of a subscription. After a break, the client sends the
 * id of the last value it received. The handler gets it as `lastEventId` and
 * continues after it.
 *
 * @param id The id: 1 to 256 characters.
 * @param value The value for the client.
 * @throws {TypeError} If the id isn't such a string.
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
  const received = typeof id === "string" ? `one of ${id.length}` : kindOf(id);
  throw new TypeError(
    `Cannot track value: the id must be a string of 1 to ${MAX_EVENT_ID} characters, received ${received}`,
  );
}

/** Maximum length of a value's id, in UTF-16 code units. */
export const MAX_EVENT_ID = 256;

/**
 * The event of a call's signal when the procedure is done. Channels end their
 * readers then, because the signal isn't aborted.
 */
export const SETTLED = "settled";

/** The events of a signal that end a channel's reader. */
export const ENDS: readonly string[] = ["abort", SETTLED];
