import { formatCount } from "../model/format.ts";
import { cutText, SHOWN_LENGTH, splitAtMatches } from "../model/text.ts";
import { query } from "../state/listing.ts";
import { Chip } from "./controls.tsx";
import { useSignal } from "./use_signal.ts";

/** A recorded text as text, whatever is in it. Long ones are cut at first. */
export function ValueText({ text }: { text: string }) {
  const full = useSignal(false);
  const cut = full.value ? text : cutText(text, SHOWN_LENGTH);
  const wanted = query.value;
  return (
    <>
      {wanted === "" || full.value
        ? cut
        : splitAtMatches(cut, wanted).map((part, i) =>
          part.match ? <mark key={i}>{part.text}</mark> : part.text
        )}
      {cut.length < text.length && (
        <Chip
          class="link show-all"
          onClick={() => {
            full.value = true;
          }}
        >
          … show all {formatCount(text.length)} characters
        </Chip>
      )}
    </>
  );
}
