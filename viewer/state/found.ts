/**
 * The findings of the server's dev command.
 *
 * @module
 */

import { computed, effect, signal } from "@preact/signals";
import { type Found, readFound } from "../model/found.ts";
import { addedPaths, askServer } from "./live.ts";
import { wantedTrace } from "./opened.ts";
import { entries, held } from "./traces.ts";
import { hashOfSpan } from "./url_keys.ts";

const PATH = "/findings";

/** The time that the server needs to look at a trace, in milliseconds. */
const REST = 600;

/** Whether the server looks for causes. */
export const isLooking = computed(() => addedPaths.value.includes(PATH));

/** All findings, the newest first. */
export const found = signal<readonly Found[]>([]);

/** The findings of the open trace. */
export const foundInTrace = signal<readonly Found[]>([]);

let timer: ReturnType<typeof setTimeout> | undefined;
let isStale = false;

effect(() => {
  entries.value;
  held.value;
  if (isLooking.value) update();
});

/** Requests the findings soon, and again if traces arrive until then. */
function update(): void {
  isStale = timer !== undefined;
  timer ??= setTimeout(async () => {
    const answer = await askServer(PATH);
    timer = undefined;
    if (answer !== undefined) found.value = readFound(answer);
    if (isStale) update();
  }, REST);
}

effect(() => {
  const id = wantedTrace.value;
  const isKnown = found.value.length > 0 && id !== "";
  foundInTrace.value = [];
  if (isKnown) readTrace(id);
});

async function readTrace(id: string): Promise<void> {
  const answer = await askServer(`${PATH}?traceId=${encodeURIComponent(id)}`);
  if (wantedTrace.peek() === id) foundInTrace.value = readFound(answer);
}

/** Opens the trace of a finding at its first span. */
export function openFound({ traceId, spanIds }: Found): void {
  // A rejection outside of a request has no trace.
  if (traceId === "") return;
  location.hash = hashOfSpan({ traceId, spanId: spanIds[0] ?? "" });
}
