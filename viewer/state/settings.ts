/**
 * The user's settings. The browser remembers them.
 *
 * @module
 */

import { signal } from "@preact/signals";
import {
  formatClock,
  formatMoment,
  formatZone,
  type TimeZone,
} from "../model/format.ts";
import { choiceOf } from "../model/url_state.ts";
import { readText, storeText } from "./storage.ts";

/** Creates a setting with a few choices. The first one is the default. */
export function createSetting<Choice extends string>(
  key: string,
  choices: readonly Choice[],
) {
  const value = signal(choiceOf(choices, readText(key)));
  return {
    /** The selected choice. */
    value,
    /** Selects the next choice. */
    next(): void {
      const at = choices.indexOf(value.value);
      value.value = choices[(at + 1) % choices.length]!;
      storeText(key, value.value);
    },
  };
}

/** The zone of all times. */
export const timeZone = createSetting<TimeZone>("trace-viewer-time-zone", [
  "local",
  "utc",
]);

/** Formats the time of day in the selected zone. */
export function clockText(epochMs: number): string {
  return formatClock(epochMs, timeZone.value.value);
}

/** Formats the date and time in the selected zone. */
export function momentText(epochMs: number): string {
  return formatMoment(epochMs, timeZone.value.value);
}

/** Returns the name of the selected zone, as it is today. */
export function zoneText(): string {
  return formatZone(Date.now(), timeZone.value.value);
}
