/**
 * Session records as text, the same for all stores: what can be kept in memory
 * during development can be kept in a database in production.
 *
 * @module
 */

import { keyPart } from "../../core/key_part.ts";
import type { SessionRecord } from "./session_store.ts";

/**
 * Maximum characters. Even with two bytes each they fit into a value of Deno
 * KV, which may have 64 KiB.
 */
const MAX_LENGTH = 16 * 1024;

/** Maximum lifetime in a database: 34 years, in milliseconds. */
const MAX_TIME_LEFT = 2 ** 40;

/** A record that can't be kept. The store itself works. */
export class RecordError extends TypeError {}

/**
 * Returns the text of a record.
 *
 * @throws {RecordError} If it isn't a record, or is too long.
 */
export function writeRecord(record: SessionRecord): string {
  if (!isRecord(record)) {
    throw new RecordError(
      "Cannot keep session: a record must have id, userId, payload, and finite createdAt, refreshedAt and expiresAt",
    );
  }
  const { id, userId, payload, createdAt, refreshedAt, expiresAt } = record;
  const text = JSON.stringify(
    { id, userId, payload, createdAt, refreshedAt, expiresAt },
  );
  if (text.length <= MAX_LENGTH) return text;
  throw new RecordError(
    `Cannot keep session: its JSON must be at most ${MAX_LENGTH} characters long, received ${text.length}; keep less of the user in the session`,
  );
}

/**
 * Returns the record whose id is this part of a key, or `undefined` for other
 * text. Another program may have written it.
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

/** Whether `touch()` may replace a record: it's the user's, and not newer. */
export function isReplaceable(
  kept: SessionRecord | undefined,
  { userId, refreshedAt }: SessionRecord,
): boolean {
  return kept?.userId === userId && kept.refreshedAt <= refreshedAt;
}

/**
 * Returns how long a database must keep a record, in whole milliseconds, at
 * least 1.
 */
export function timeLeft({ expiresAt }: SessionRecord, now: number): number {
  return Math.max(1, Math.min(Math.ceil(expiresAt - now), MAX_TIME_LEFT));
}

/** Sorts records, oldest first. */
export function sortRecords(records: SessionRecord[]): SessionRecord[] {
  return records.sort((a, b) => a.createdAt - b.createdAt);
}
