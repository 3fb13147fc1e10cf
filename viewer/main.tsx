/// <reference lib="dom" />
/// <reference lib="dom.iterable" />

/**
 * The page's entry: reads what it came with, draws, and listens.
 *
 * @module
 */

import { render } from "preact";
import { App } from "./components/app.tsx";
import { readDataBlock } from "./model/import_file.ts";
import { colors } from "./state/colors.ts";
import { messageOf, startDropping } from "./state/files.ts";
import { startKeyboard } from "./state/keyboard.ts";
import { startLive } from "./state/live.ts";
import { startTheme } from "./state/theme.ts";
import { addEntries, dataState } from "./state/traces.ts";
import { startUrlSync } from "./state/url_sync.ts";

async function readPageData(): Promise<void> {
  const block = document.querySelector<HTMLElement>("#trace-data")!;
  const encoding = block.dataset.encoding ?? "none";
  if (encoding === "none") {
    if (location.protocol.startsWith("http")) startLive();
    else dataState.value = { kind: "ready" };
    return;
  }
  try {
    addEntries(await readDataBlock(encoding, block.textContent ?? ""));
    dataState.value = { kind: "ready" };
  } catch (error) {
    dataState.value = { kind: "broken", message: messageOf(error) };
  }
}

startTheme();
const app = document.querySelector("#app")!;
app.replaceChildren();
render(<App />, app);
startKeyboard();
startDropping();
startUrlSync();
// Resolved while the page is small: with a trace in it, it takes ten times as
// long.
colors.value;
readPageData();
