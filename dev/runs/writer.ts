import { rm } from "node:fs/promises";
import { yieldToEventLoop } from "../../core/promises.ts";
import { Delay } from "../delay.ts";
import { MAX_LINE, MAX_SEGMENT, type RunFolder } from "./run_folder.ts";

/** How long lines wait for others, in milliseconds. */
const DELAY = 500;
/**
 * Maximum waiting lines. Under load, the oldest are dropped, because writing a
 * trace takes longer than recording it.
 */
const MAX_WAITING = 500;
/** The characters that are written together, or one line. */
const BATCH = 256 * 1024;

/** Options of {@linkcode createWriter}. */
export interface WriterOptions {
  readonly folder: RunFolder;
  /** The start of the run, in epoch milliseconds. */
  readonly start: number;
  /** Waits for the first line of each segment. */
  readonly header: Promise<string>;
  /** Called if a line can't be written. The writer then stops. */
  readonly onError: (error: Error) => void;
}

/** Creates a writer that appends lines to the segments of a run. */
export function createWriter(
  { folder, start, header, onError }: WriterOptions,
) {
  let waiting: (() => unknown)[] = [];
  /** The lines of the present flush that aren't written yet. */
  let lines: (() => unknown)[] = [];
  const delay = new Delay(flush);
  let writing = Promise.resolve();
  /** The text that is being written. Empty once `flushNow` has written it. */
  let current: string | undefined;
  let isBroken = false;
  let index = 0;
  let knownHeader: string | undefined;
  header.then((text) => knownHeader = text, () => {});

  function flush(): Promise<void> {
    delay.cancel();
    return writing = writing.then(write).catch(stop);
  }

  function stop(error: Error): void {
    // A cut line must stay the last one.
    isBroken = true;
    waiting = [];
    lines = [];
    current = undefined;
    onError(error);
  }

  async function write(): Promise<void> {
    lines = waiting.splice(0);
    while (lines.length > 0) {
      const text = take(lines);
      if (text !== "") await append(text);
      await yieldToEventLoop();
    }
  }

  /** Writes the lines that wait, at once, because the process ends. */
  function flushNow(): void {
    if (knownHeader === undefined) return;
    try {
      // A line may be half written to the present segment. Readers know whole
      // ones by their ids.
      const path = folder.pathOf(
        start,
        current === undefined ? index : index + 1,
      );
      lines.push(...waiting.splice(0));
      do {
        const text = current || take(lines);
        current &&= "";
        if (text !== "") folder.appendNow(path, knownHeader, text);
      } while (lines.length > 0);
    } catch (error) {
      stop(error as Error);
    }
  }

  async function append(text: string): Promise<void> {
    const path = folder.pathOf(start, index);
    const line = await header;
    current = text;
    const size = await folder.append(path, line, text);
    current = undefined;
    if (size < MAX_SEGMENT) return;
    // The two last segments of a run are kept.
    await rm(folder.pathOf(start, index - 1), { force: true });
    index++;
  }

  return {
    /**
     * Writes a line soon.
     *
     * @param read Returns its value, which is written as JSON.
     */
    add(read: () => unknown): void {
      if (isBroken) return;
      waiting.push(read);
      if (waiting.length > MAX_WAITING * 1.25) {
        waiting = waiting.slice(-MAX_WAITING);
      }
      delay.start(DELAY);
    },
    flushNow,
    /** Writes the lines that wait. */
    close: flush,
  };
}

/** Takes as many lines as are written together. */
function take(lines: (() => unknown)[]): string {
  let text = "";
  while (lines.length > 0 && text.length < BATCH) {
    const line = JSON.stringify(lines.shift()!());
    if (line.length < MAX_LINE) text += `${line}\n`;
  }
  return text;
}
