/// <reference lib="dom" />
/// <reference lib="dom.iterable" />

/**
 * The page's entry: reads its traces, draws, and listens.
 *
 * @module
 */

import { render } from "preact";
import { App } from "./components/app.tsx";
import { afterPaint } from "./dom.ts";
import { readDataBlock } from "./model/import_file.ts";
import { messageOf } from "./model/text.ts";
import { startDropping } from "./state/files.ts";
import { startKeyboard } from "./state/keyboard.ts";
import { startLive } from "./state/live.ts";
import { startTheme } from "./state/theme.ts";
import * as traces from "./state/traces.ts";
import { startUrlSync } from "./state/url_sync.ts";

async function readPageData(): Promise<void> {
  try {
    while (findBlock() === null && isParsing()) await parserReadsOn();
    const block = findBlock();
    if (block === null) throw new TypeError("Cannot read the page: it is cut");
    const encoding = block.dataset.encoding ?? "none";
    if (encoding === "none") {
      if (location.protocol.startsWith("http")) startLive();
      else traces.dataState.value = { kind: "ready" };
      draw();
      return;
    }
    const pieces = textParts(block);
    const { entries, complete } = await readDataBlock(encoding, pieces);
    traces.addEntries(entries);
    draw();
    // The list is painted first.
    await new Promise<void>(afterPaint);
    await complete();
    // Pieces of one trace can be joined once their spans are there.
    if (traces.entries.value.length < entries.length) {
      traces.addEntries(entries);
    }
    traces.dataState.value = { kind: "ready" };
  } catch (error) {
    traces.clearEntries();
    traces.dataState.value = { kind: "broken", message: messageOf(error) };
    draw();
  }
}

/** Returns the element of the traces, once the parser has reached it. */
function findBlock(): HTMLElement | null {
  return document.querySelector("#trace-data");
}

/** Yields the text of an element while the parser reads it. */
async function* textParts(element: HTMLElement): AsyncGenerator<string> {
  for (let at = 0, more = true; more;) {
    more = isParsing();
    const text = element.textContent ?? "";
    yield text.slice(at);
    at = text.length;
    if (more) await parserReadsOn();
  }
}

function isParsing(): boolean {
  return document.readyState === "loading";
}

function parserReadsOn(): Promise<void> {
  return new Promise((resolve) => {
    const observer = new MutationObserver(() => {
      observer.disconnect();
      resolve();
    });
    observer.observe(document.body, {
      characterData: true,
      childList: true,
      subtree: true,
    });
    document.addEventListener("readystatechange", () => resolve());
  });
}

/** Draws the page, in place of "Reading traces…". */
function draw(): void {
  document.querySelector(".boot")?.remove();
  render(<App />, document.querySelector("#app")!);
}

startTheme();
startKeyboard();
startDropping();
startUrlSync();
readPageData();
