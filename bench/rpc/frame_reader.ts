/**
 * A WebSocket client that does as little as possible with received data, so
 * that a benchmark measures the server.
 *
 * @module
 */

/** Opens a socket, sends one message, and waits for a number of messages. */
export async function exchange(
  port: number,
  path: string,
  message: string | Uint8Array,
  expected: number,
): Promise<void> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  const encoder = new TextEncoder();
  await write(
    connection,
    encoder.encode(
      `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n` +
        "Connection: Upgrade\r\nUpgrade: websocket\r\n" +
        "Sec-WebSocket-Version: 13\r\n" +
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    ),
  );
  const frames = countFrames(connection);
  await frames.next();
  const text = typeof message === "string";
  await write(
    connection,
    frameOf(text ? 1 : 2, text ? encoder.encode(message) : message),
  );
  for await (const count of frames) if (count >= expected) return;
  throw new Error("The server closed the connection");
}

async function write(connection: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let sent = 0; sent < bytes.length;) {
    sent += await connection.write(bytes.subarray(sent));
  }
}

/**
 * Returns a frame whose mask is all zeros, which leaves the payload unchanged.
 */
function frameOf(opcode: number, payload: Uint8Array): Uint8Array {
  const { length } = payload;
  const size = length < 126 ? [length] : [126, length >> 8, length & 255];
  size[0]! |= 128;
  return new Uint8Array([128 | opcode, ...size, 0, 0, 0, 0, ...payload]);
}

/**
 * Yields once for the handshake, then the number of data frames so far after
 * each read (RFC 6455, section 5.2).
 */
async function* countFrames(connection: Deno.Conn): AsyncGenerator<number> {
  const buffer = new Uint8Array(262_144);
  let length = 0;
  let position = 0;
  let count = 0;
  let open = false;
  for (;;) {
    if (position > 0) {
      buffer.copyWithin(0, position, length);
      length -= position;
      position = 0;
    }
    const size = await connection.read(buffer.subarray(length));
    if (size === null) return;
    length += size;
    if (!open) {
      const text = new TextDecoder().decode(buffer.subarray(0, length));
      const end = text.indexOf("\r\n\r\n");
      if (end === -1) continue;
      if (!text.startsWith("HTTP/1.1 101")) throw new Error(text);
      open = true;
      position = end + 4;
    }
    while (position + 4 <= length) {
      let payload = buffer[position + 1]!;
      let header = 2;
      if (payload === 126) {
        payload = buffer[position + 2]! * 256 + buffer[position + 3]!;
        header = 4;
      } else if (payload > 126) throw new Error("A frame is too long");
      if (position + header + payload > length) break;
      if ((buffer[position]! & 15) < 3) count++;
      position += header + payload;
    }
    yield count;
  }
}
