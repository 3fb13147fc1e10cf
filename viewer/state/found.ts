/**
 * The findings of the server's dev command.
 *
 * @module
 */

import { computed, effect, signal } from "@preact/signals";
import { type Found, readFound } from "../model/found.ts";
import { follow } from "./follow.ts";
import { addedPaths, askServer } from "./live.ts";
import { wantedTrace } from "./opened.ts";
import { hashOfSpan } from "./url_keys.ts";

const PATH = "/findings";

/** Whether the server looks for causes. */
export const isLooking = computed(() => addedPaths.value.includes(PATH));

/** All findings, the newest first. */
export const found = signal<readonly Found[]>([]);

/** The findings of a trace, as last read. */
const inTrace = signal({ id: "", list: found.value });

/** The findings of the open trace. */
export const foundInTrace = computed(() =>
  inTrace.value.id === wantedTrace.value ? inTrace.value.list : []
);

follow(PATH, (answer) => {
  found.value = readFound(answer);
});

effect(() => {
  const id = wantedTrace.value;
  if (found.value.length > 0 && id !== "") readTrace(id);
});

async function readTrace(id: string): Promise<void> {
  const answer = await askServer(`${PATH}?traceId=${encodeURIComponent(id)}`);
  if (wantedTrace.peek() === id) {
    inTrace.value = { id, list: readFound(answer) };
  }
}

/** Opens the trace of a finding at its first span. */
export function openFound({ traceId, spanIds }: Found): void {
  // A rejection outside of a request has no trace.
  if (traceId === "") return;
  location.hash = hashOfSpan({ traceId, spanId: spanIds[0] ?? "" });
}
