/**
 * Records in Deno KV, whose values have at most 64 KiB.
 *
 * ```
 *   [name, "cache", "value", key]     epoch, began, kept, and bytes or the id of parts
 *   [name, "cache", "part", id, i]    bytes
 * ```
 *
 * A large record is written in parts under a unique id, and then a head that names
 * them. So a reader of a head finds all of its parts, unless the head has been
 * replaced. If a process is killed between the two writes, its parts expire.
 *
 * @module
 */

import { concatBytes } from "../../core/bytes/bytes.ts";
import {
  type FoundEntry,
  type SharedEntry,
  storedFor,
} from "../shared/backend.ts";
import type { KvAtomicOperation, KvEntry } from "./kv.ts";
import { type KvSpace, PAGE } from "./kv_space.ts";

/** The value under a record's key. */
interface Head extends Omit<SharedEntry, "text"> {
  /** When it was stored, in milliseconds of the Unix epoch. */
  readonly kept: number;
  /** The text in UTF-8, or the id and number of its parts. */
  readonly text: Uint8Array | { readonly id: string; readonly count: number };
}

/** Bytes of text per value, which leaves room for the other fields. */
const PART = 60_000;
/** Parts per transaction, which may have 800 KiB. */
const BATCH = 10;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Creates the records of a store. */
export function createKvRecords(space: KvSpace, now: () => number) {
  /** Returns the key of a record. */
  const keyOf = (key: string) => space.keyOf("value", key);

  /** Reads the record under a key, with its parts. */
  async function read({ value }: KvEntry): Promise<FoundEntry | undefined> {
    if (value === null) return undefined;
    const { kept, text, ...entry } = value as Head;
    const bytes = text instanceof Uint8Array
      ? text
      : await join(text.id, text.count);
    return bytes && {
      ...entry,
      text: decoder.decode(bytes),
      age: Math.max(0, now() - kept),
    };
  }

  /** Stores a record, unless the present one began later. */
  async function write(key: string, entry: SharedEntry): Promise<void> {
    const { epoch, began, text } = entry;
    const head = await keyOf(key);
    const ms = storedFor(entry);
    const bytes = encoder.encode(text);
    const placed = bytes.length <= PART ? bytes : await split(bytes, ms);
    const value: Head = { ...entry, kept: now(), text: placed };
    for (;;) {
      const { value: old, versionstamp } = await space.readOne(head);
      const other = old as Head | null;
      if (other?.epoch === epoch && other.began > began) {
        return await drop(value);
      }
      const change = space.change().check({ key: head, versionstamp })
        .set(head, value, { expireIn: ms });
      if (await space.commit(change)) return await drop(other);
    }
  }

  /** Deletes a record. */
  async function remove(key: string): Promise<void> {
    const head = await keyOf(key);
    const { value } = await space.readOne(head);
    await space.commit(space.change().delete(head));
    await drop(value as Head | null);
  }

  async function split(
    bytes: Uint8Array,
    expireIn: number,
  ): Promise<Head["text"]> {
    const id = crypto.randomUUID();
    const count = Math.ceil(bytes.length / PART);
    await changeParts(count, BATCH, (change, i) => {
      const part = bytes.slice(i * PART, (i + 1) * PART);
      change.set(space.key("part", id, i), part, { expireIn });
    });
    return { id, count };
  }

  /** Returns the bytes of all parts, or `undefined` if one is missing. */
  async function join(
    id: string,
    count: number,
  ): Promise<Uint8Array | undefined> {
    const parts: Uint8Array[] = [];
    while (parts.length < count) {
      const prefix = space.key("part", id);
      const entries = await space.page(prefix, parts.length, BATCH);
      if (entries.length === 0) return undefined;
      for (const { value } of entries) parts.push(value as Uint8Array);
    }
    return concatBytes(parts);
  }

  /** Deletes the parts of a head that was removed or never written. */
  async function drop(head: Head | null): Promise<void> {
    if (head === null || head.text instanceof Uint8Array) return;
    const { id, count } = head.text;
    await changeParts(count, PAGE, (change, i) => {
      change.delete(space.key("part", id, i));
    });
  }

  /** Changes all parts of a record, `size` of them in each transaction. */
  async function changeParts(
    count: number,
    size: number,
    add: (change: KvAtomicOperation, index: number) => void,
  ): Promise<void> {
    for (let from = 0; from < count; from += size) {
      const change = space.change();
      for (let i = from; i < Math.min(count, from + size); i++) add(change, i);
      await space.commit(change);
    }
  }

  return { keyOf, read, write, remove };
}
