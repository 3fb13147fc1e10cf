/**
 * Short messages at the edge of the page.
 *
 * @module
 */

import { signal } from "@preact/signals";

/** A message. */
export interface Notice {
  /** Unique among the messages. */
  readonly id: number;
  /** Its text. */
  readonly text: string;
  /** Whether it is an error, which stays until it is closed. */
  readonly failed: boolean;
}

/** The display time of a message, in milliseconds. */
const SHOWN_FOR = 4000;

/** The messages, oldest first. */
export const notices = signal<readonly Notice[]>([]);

let nextId = 1;

/**
 * Shows a message. Unless it is an error, it disappears after a few seconds.
 */
export function notify(text: string, failed = false): void {
  const id = nextId++;
  notices.value = [...notices.value, { id, text, failed }].slice(-4);
  if (!failed) setTimeout(() => dismiss(id), SHOWN_FOR);
}

/** Shows an error until it is closed. */
export function notifyFailure(text: string): void {
  notify(text, true);
}

/** Removes a message. */
export function dismiss(id: number): void {
  notices.value = notices.value.filter((notice) => notice.id !== id);
}
