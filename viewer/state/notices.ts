/**
 * Short messages at the edge of the page.
 *
 * @module
 */

import { signal } from "@preact/signals";

/** A message. */
export interface Notice {
  /** Tells it from the others. */
  readonly id: number;
  /** What it says. */
  readonly text: string;
  /** Whether something went wrong: then it stays until it is closed. */
  readonly failed: boolean;
}

/** How long a message is shown, in milliseconds. */
const SHOWN_FOR = 4000;

/** The messages, oldest first. */
export const notices = signal<readonly Notice[]>([]);

let nextId = 1;

/** Says something for a few seconds. */
export function reportError(text: string): void {
  const id = add(text, false);
  setTimeout(() => dismiss(id), SHOWN_FOR);
}

/** Says what went wrong, until it is closed. */
export function complain(text: string): void {
  add(text, true);
}

/** Takes a message away. */
export function dismiss(id: number): void {
  notices.value = notices.value.filter((notice) => notice.id !== id);
}

function add(text: string, failed: boolean): number {
  const id = nextId++;
  notices.value = [...notices.value, { id, text, failed }].slice(-4);
  return id;
}
