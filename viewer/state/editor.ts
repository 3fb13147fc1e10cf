/**
 * Opens lines of code in the editor of the server's machine.
 *
 * @module
 */

import { codeLineOf } from "../../trace/export/attributes.ts";
import { pathOfPlace } from "../model/stack.ts";
import { messageOf } from "../model/text.ts";
import { addedPaths, base } from "./live.ts";
import { notify, notifyFailure } from "./notices.ts";
import { selected } from "./selection.ts";

/** The path of the dev command's route, below the viewer. */
const PATH = "/open";

/** Returns the absolute path and line behind the selected span, if known. */
export function selectedPlace(): string | undefined {
  const span = selected.value?.unit.node.span;
  const place = span && codeLineOf(span, "");
  return place && canOpen(place) ? place : undefined;
}

/** Whether a place is a local file, and the server opens files. */
export function canOpen(place: string): boolean {
  return addedPaths.value.includes(PATH) &&
    /^(?:\/|[A-Z]:)/i.test(pathOfPlace(place));
}

/** Opens the line behind the selected span. */
export function openSelected(): void {
  const place = selectedPlace();
  if (place !== undefined) openPlace(place);
  else notify("The line of code is unknown.");
}

/**
 * Opens a line.
 *
 * @param place Its file, line and perhaps column, such as `/app/posts.ts:41:7`.
 */
export async function openPlace(place: string): Promise<void> {
  const [, path = place, line] = /^(.+?):(\d+)(?::\d+)?$/
    .exec(pathOfPlace(place)) ?? [];
  try {
    const response = await fetch(base() + PATH, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ path, line: Number(line ?? 1) }),
    });
    if (!response.ok) throw new Error((await response.json()).error.message);
  } catch (error) {
    notifyFailure(`${messageOf(error)}: ${pathOfPlace(place)}`);
  }
}
