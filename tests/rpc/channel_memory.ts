/**
 * Prints the bytes of heap that each phase of a channel's use leaves behind, per
 * round. Run with `--v8-flags=--expose-gc`.
 *
 * @module
 */

import { createChannel } from "@quartet/kit/rpc";
import { heapGrowth } from "../leaks.ts";

const channel = createChannel<string>({ history: 1000 });
const { signal } = new AbortController();

async function joinAndLeave(count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const controller = new AbortController();
    const stream = channel.subscribe(controller.signal);
    const next = stream.next();
    if (i % 2 === 0) controller.abort();
    else stream.return!();
    await next;
  }
}

async function publish(count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    channel.publish(`message ${i} ${"x".repeat(99)}`);
    // Yields, so that the waiting subscriber can read.
    if (i % 500 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
}

// One subscriber never reads, and one always waits.
const stalled = channel.subscribe(signal);
const waiting = channel.subscribe(signal);
(async () => {
  for await (const _message of waiting);
})().catch(() => {});

await publish(1000);
console.log(JSON.stringify({
  subscribers: await heapGrowth(() => joinAndLeave(10_000)),
  messages: await heapGrowth(() => publish(1_000_000)),
  left: channel.subscribers,
}));
await stalled.return!();
await waiting.return!();
