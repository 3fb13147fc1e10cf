/**
 * Prints the bytes of heap that each phase of a channel's use leaves behind.
 * Run with `--v8-flags=--expose-gc`.
 *
 * @module
 */

import { createChannel } from "@quartet/kit/rpc";

/** Returns the bytes in use. One garbage collection may leave some behind. */
async function heap(): Promise<number> {
  const sizes: number[] = [];
  for (let i = 0; i < 5; i++) {
    await new Promise((resolve) => setTimeout(resolve));
    (globalThis as unknown as { gc(): void }).gc();
    sizes.push(Deno.memoryUsage().heapUsed);
  }
  return Math.min(...sizes);
}

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

function publish(count: number): void {
  for (let i = 0; i < count; i++) {
    channel.publish(`message ${i} ${"x".repeat(99)}`);
  }
}

// One subscriber never reads, and one always waits.
const stalled = channel.subscribe(signal);
const waiting = channel.subscribe(signal);
(async () => {
  for await (const _message of waiting);
})().catch(() => {});

await joinAndLeave(1000);
publish(500);
await new Promise((resolve) => setImmediate(resolve));
publish(500);
const start = await heap();
await joinAndLeave(10_000);
const subscribers = await heap();
for (let i = 0; i < 2000; i++) {
  publish(500);
  // Yields, so that the waiting subscriber can read.
  await new Promise((resolve) => setImmediate(resolve));
}
const messages = await heap();
console.log(JSON.stringify({
  subscribers: subscribers - start,
  messages: messages - subscribers,
  left: channel.subscribers,
}));
await stalled.return!();
await waiting.return!();
