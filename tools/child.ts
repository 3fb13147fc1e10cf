/**
 * Runs Deno in child processes side by side, whose outputs are printed one after
 * the other.
 *
 * @module
 */

import { Slots } from "../core/promises.ts";

/** A child process. */
export interface Child {
  readonly status: Promise<Deno.CommandStatus>;
  /** Writes the output, from its beginning to its end. Returns its text. */
  print(): Promise<string>;
}

/**
 * Starts Deno once for each list of arguments, in their order. At most two
 * processes run at a time, or one if there is one core.
 */
export function startInTurn(
  lists: readonly (readonly string[])[],
  stderr: "piped" | "inherit",
): Promise<Child>[] {
  const slots = new Slots(Math.min(2, navigator.hardwareConcurrency));
  return lists.map(async (args) => {
    await slots.acquire();
    const child = startDeno(args, stderr);
    child.status.then(() => slots.release());
    return child;
  });
}

/**
 * Starts Deno.
 *
 * @param args The arguments.
 * @param stderr Whether `print()` writes the errors too, or the child does at
 * once.
 */
export function startDeno(
  args: readonly string[],
  stderr: "piped" | "inherit",
): Child {
  const process = new Deno.Command(Deno.execPath(), {
    args: [...args],
    stdin: "null",
    stdout: "piped",
    stderr,
  }).spawn();
  // Read at once: a full pipe would stop the process.
  const chunks: Uint8Array[] = [];
  let isOver = false;
  let wake = () => {};
  const read = async (stream: ReadableStream<Uint8Array>) => {
    for await (const chunk of stream) {
      chunks.push(chunk);
      wake();
    }
  };
  const streams = stderr === "piped"
    ? [process.stdout, process.stderr]
    : [process.stdout];
  Promise.all(streams.map(read)).then(() => {
    isOver = true;
    wake();
  });
  return {
    status: process.status,
    async print() {
      const decoder = new TextDecoder();
      let text = "";
      for (let i = 0;; i++) {
        while (i === chunks.length && !isOver) {
          await new Promise<void>((resolve) => wake = resolve);
        }
        if (i === chunks.length) return text;
        let rest = chunks[i]!;
        text += decoder.decode(rest, { stream: true });
        while (rest.length > 0) {
          rest = rest.subarray(await Deno.stdout.write(rest));
        }
      }
    },
  };
}
