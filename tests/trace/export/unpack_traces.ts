import { openTraces, type PackedTraces } from "../../../trace/export/unpack.ts";

/** Unpacks the whole result of `packTraces()`. */
export async function unpackTraces(text: string): Promise<PackedTraces> {
  const packed = await openTraces([text]);
  await packed.complete();
  return packed;
}
