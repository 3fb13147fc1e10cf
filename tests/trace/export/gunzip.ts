import { startGunzip } from "../../../trace/export/gzip.ts";

/** Decompresses `bytes`, up to `limit` bytes of output. */
export async function gunzip(
  bytes: Uint8Array<ArrayBuffer>,
  limit: number,
): Promise<Uint8Array<ArrayBuffer>> {
  return await startGunzip([bytes].values(), limit)(() => false);
}
