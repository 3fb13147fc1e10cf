/**
 * Session records as text, the same for all stores: what can be kept in memory
 * during development can be kept in a database in production.
 *
 * @module
 */

import { keyPart } from "../key_part.ts";
import type { SessionRecord } from "./session_store.ts";

/**
 * The longest text, in characters. Even of two bytes each, with what is around
 * them, they fit into a value of Deno KV, which may have 64 KiB.
 */
const MAX_LENGTH = 16 * 1024;

/** The longest time that a database is told, 34 years in ms. */
const MAX_TIME_LEFT = 2 ** 40;

/**
 * The text of a record.
 *
 * @throws {TypeError} If it is no record, or too long to be kept.
 */
export function writeRecord(record: SessionRecord): string {
  if (!isRecord(record)) {
    throw new TypeError(
      "Cannot keep session: a record must have id, userId, payload, and finite createdAt, refreshedAt and expiresAt",
    );
  }
  const { id, userId, payload, createdAt, refreshedAt, expiresAt } = record;
  const text = JSON.stringify(
    { id, userId, payload, createdAt, refreshedAt, expiresAt },
  );
  if (text.length <= MAX_LENGTH) return text;
  throw new TypeError(
    `Cannot keep session: its JSON must be at most ${MAX_LENGTH} characters long, received ${text.length}; keep less of the user in the session`,
  );
}

/**
 * The record whose id is this part of a key, or `undefined` if the text is of
 * anything else: what another program has written there is nobody's session.
 */
export function readRecord(
  text: unknown,
  part: string,
): SessionRecord | undefined {
  if (typeof text !== "string") return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) && keyPart(value.id) === part ? value : undefined;
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is SessionRecord {
  const record = Object(value) as SessionRecord;
  const { id, userId, payload, createdAt, refreshedAt, expiresAt } = record;
  return typeof id === "string" && typeof userId === "string" &&
    typeof payload === "object" && payload !== null &&
    [createdAt, refreshedAt, expiresAt].every(Number.isFinite);
}

/** For how long a database has to keep a record, in whole milliseconds above 0. */
export function timeLeft({ expiresAt }: SessionRecord, now: number): number {
  return Math.max(1, Math.min(Math.ceil(expiresAt - now), MAX_TIME_LEFT));
}

/** The oldest first; of the same age, as they are. */
export function sortRecords(records: SessionRecord[]): SessionRecord[] {
  return records.sort((a, b) => a.createdAt - b.createdAt);
}
