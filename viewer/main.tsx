/// <reference lib="dom" />
/// <reference lib="dom.iterable" />

/**
 * The page's entry: reads what it came with, draws, and listens.
 *
 * @module
 */

import { render } from "preact";
import { App } from "./components/app.tsx";
import { afterPaint } from "./hooks.ts";
import { readDataBlock } from "./model/import_file.ts";
import { colors } from "./state/colors.ts";
import { messageOf, startDropping } from "./state/files.ts";
import { startKeyboard } from "./state/keyboard.ts";
import { startLive } from "./state/live.ts";
import { startTheme } from "./state/theme.ts";
import { addEntries, clearEntries, dataState } from "./state/traces.ts";
import { startUrlSync } from "./state/url_sync.ts";

async function readPageData(): Promise<void> {
  const block = document.querySelector<HTMLElement>("#trace-data")!;
  const encoding = block.dataset.encoding ?? "none";
  if (encoding === "none") {
    if (location.protocol.startsWith("http")) startLive();
    else dataState.value = { kind: "ready" };
    draw();
    return;
  }
  try {
    const content = block.textContent ?? "";
    const { entries, complete } = await readDataBlock(encoding, content);
    addEntries(entries);
    draw();
    // The list is to be seen before the rest is read.
    await new Promise<void>(afterPaint);
    await complete();
    dataState.value = { kind: "ready" };
  } catch (error) {
    clearEntries();
    dataState.value = { kind: "broken", message: messageOf(error) };
    draw();
  }
}

/** Draws the page, in place of what says that it is being read. */
function draw(): void {
  document.querySelector(".boot")?.remove();
  render(<App />, document.querySelector("#app")!);
}

startTheme();
// Resolved while the page is small: with a trace in it, it takes ten times as
// long.
colors.value;
startKeyboard();
startDropping();
startUrlSync();
readPageData();
