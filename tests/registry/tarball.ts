import { PublishError } from "./publish_error.ts";
import type { Files } from "./package_store.ts";

const BLOCK = 512;
/** Maximum size of a package on JSR, in bytes. */
const MAX_SIZE = 20 * 1024 * 1024;

/**
 * Unpacks an upload of `deno publish`: a gzipped tar archive (POSIX.1,
 * "ustar").
 *
 * @throws {PublishError} If it contains anything but plain files, or is too
 * large.
 */
export async function unpack(
  tarball: Uint8Array<ArrayBuffer>,
): Promise<Files> {
  const archive = await new Response(
    new Blob([tarball]).stream().pipeThrough(new DecompressionStream("gzip")),
  ).bytes();
  if (archive.length > MAX_SIZE) {
    throw new PublishError("packageTooLarge", `${archive.length} bytes`);
  }
  const files: Files = new Map();
  // Blocks of zeros end the archive.
  for (let start = 0; archive[start]; start += BLOCK) {
    const header = archive.subarray(start, start + BLOCK);
    const path = `${text(header, 345, 155)}/${text(header, 0, 100)}`
      .replace(/^\/+(\.\/)?/, "/");
    const type = text(header, 156, 1);
    if (type !== "0" && type !== "") {
      throw new PublishError("invalidEntryType", `${path} is no plain file`);
    }
    const size = parseInt(text(header, 124, 12), 8);
    const content = start + BLOCK;
    files.set(path, archive.slice(content, content + size));
    start += Math.ceil(size / BLOCK) * BLOCK;
  }
  return files;
}

/** Returns a field of a header. A zero ends a shorter field. */
function text(header: Uint8Array, start: number, length: number): string {
  const field = header.subarray(start, start + length);
  return new TextDecoder().decode(field).replace(/\0.*$/s, "").trim();
}
