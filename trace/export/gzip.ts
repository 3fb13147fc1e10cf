/**
 * Gzip with the platform's streams. Unlike raw deflate, it has a checksum,
 * which detects damaged files.
 *
 * @module
 */

import { concatBytes } from "../../core/bytes/bytes.ts";

/** Compresses `bytes`. */
export async function gzip(
  bytes: Uint8Array<ArrayBuffer>,
): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([bytes]).stream()
    .pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/**
 * Decompresses to the end, or until `isEnough` accepts a chunk. The next call
 * continues there, and returns everything from the start.
 */
export type ReadOn = (
  isEnough: (chunk: Uint8Array) => boolean,
) => Promise<Uint8Array<ArrayBuffer>>;

/** A source of pieces that may still arrive. */
export type Source<T> = Iterator<T> | AsyncIterator<T>;

/**
 * Decompresses bytes on demand. It throws as soon as the result exceeds `limit`
 * bytes, because a few kilobytes can inflate a thousandfold.
 *
 * @param pieces The bytes in pieces. Each piece is decompressed as a whole.
 */
export function startGunzip(
  pieces: Source<Uint8Array<ArrayBuffer>>,
  limit: number,
): ReadOn {
  const source = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      const { done, value } = await pieces.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  });
  // Not `for await`: older browsers can't iterate over streams.
  const reader = source.pipeThrough(new DecompressionStream("gzip"))
    .getReader();
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  return async (isEnough) => {
    while (true) {
      const { done, value } = await reader.read();
      if (done) break;
      chunks.push(value);
      length += value.length;
      if (length > limit) {
        await reader.cancel();
        throw new RangeError(`more than ${limit} bytes in it`);
      }
      if (isEnough(value)) break;
    }
    return concatBytes(chunks);
  };
}
