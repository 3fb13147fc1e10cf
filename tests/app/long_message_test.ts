import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { handshake, startDeno } from "../helpers.ts";

const PROGRAM = ["run", "-A", "--no-check", "tests/app/long_message_server.ts"];
/**
 * Bytes per frame, and a number of frames that exceeds a string's maximum
 * length: 528 MiB.
 */
const FRAME = 16 * 1024 * 1024;
const FRAMES = 33;

/** Sends one text message in frames of zeros, masked with a key of zeros. */
async function sendLongMessage(connection: Deno.TcpConn): Promise<void> {
  const frame = new Uint8Array(14 + FRAME).fill(97, 14);
  frame[1] = 0x80 | 127;
  new DataView(frame.buffer).setBigUint64(2, BigInt(FRAME));
  for (let i = 0; i < FRAMES; i++) {
    frame[0] = (i === 0 ? 1 : 0) | (i === FRAMES - 1 ? 0x80 : 0);
    for (let sent = 0; sent < frame.length;) {
      sent += await connection.write(frame.subarray(sent));
    }
  }
}

Deno.test("A message longer than any string doesn't end the process or other sockets", async () => {
  await using child = startDeno(PROGRAM);
  const [port] = await child.printed(/\d+/);
  using hostile = await Deno.connect({ hostname: "127.0.0.1", port: +port! });
  await hostile.write(new TextEncoder().encode(handshake()));
  await hostile.read(new Uint8Array(1024));
  const other = new WebSocket(`ws://127.0.0.1:${port}/`);
  await new Promise((resolve) => other.onopen = resolve);
  await sendLongMessage(hostile);
  while (!child.stderr.includes("Cannot read a WebSocket message")) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const echoed = new Promise<MessageEvent>((done) => other.onmessage = done);
  other.send("alive");
  assertEquals((await echoed).data, "alive");
  const closed = new Promise((resolve) => other.onclose = resolve);
  other.close();
  await closed;
});

Deno.test("An unhandled rejection still ends a process with sockets", async () => {
  await using child = startDeno(PROGRAM);
  const [port] = await child.printed(/\d+/);
  const socket = new WebSocket(`ws://127.0.0.1:${port}/`);
  await new Promise((resolve) => socket.onopen = resolve);
  const closed = new Promise((resolve) => socket.onclose = resolve);
  socket.onerror = (event) => event.preventDefault();
  const response = await fetch(`http://127.0.0.1:${port}/fail`)
    .catch(() => undefined);
  await response?.body?.cancel();
  assert(await child.code !== 0);
  assertStringIncludes(child.stderr, "not of a socket");
  await closed;
});
