import { effect } from "@preact/signals";
import { addedPaths, askServer } from "./live.ts";
import { entries, held } from "./traces.ts";

/** The time that the server needs to look at a trace, in milliseconds. */
const REST = 600;

/**
 * Reads a list of the server's dev command when the page has connected, and after
 * traces have arrived.
 *
 * @param path The path below the viewer's.
 * @param show Called with each list.
 */
export function follow(path: string, show: (answer: unknown) => void): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isStale = false;

  function update(): void {
    isStale = timer !== undefined;
    timer ??= setTimeout(async () => {
      const answer = await askServer(path);
      timer = undefined;
      if (answer !== undefined) show(answer);
      if (isStale) update();
    }, REST);
  }

  effect(() => {
    entries.value;
    held.value;
    if (addedPaths.value.includes(path)) update();
  });
}
