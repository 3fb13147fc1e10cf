import { useSignal } from "@preact/signals";
import { formatCount } from "../model/format.ts";
import {
  cutText,
  SHOWN_LENGTH,
  splitAtMatches,
  splitIntoChunks,
} from "../model/text.ts";
import { query } from "../state/listing.ts";
import { Chip } from "./controls.tsx";

/** A recorded text. Long ones are cut, with a button for the rest. */
export function ValueText({ text }: { text: string }) {
  const full = useSignal(false);
  if (full.value) {
    return splitIntoChunks(text)
      .map((chunk, i) => <span class="chunk" key={i}>{chunk}</span>);
  }
  const cut = cutText(text, SHOWN_LENGTH);
  const wanted = query.value;
  return (
    <>
      {wanted === ""
        ? cut
        : splitAtMatches(cut, wanted).map((part, i) =>
          part.match ? <mark key={i}>{part.text}</mark> : part.text
        )}
      {cut.length < text.length && (
        <Chip
          class="link show-all"
          onClick={() => full.value = true}
        >
          … show all {formatCount(text.length)} characters
        </Chip>
      )}
    </>
  );
}
