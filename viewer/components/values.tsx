/**
 * Recorded values of any length, alone and as a list.
 *
 * @module
 */

import { useSignal } from "@preact/signals";
import type { SpanData } from "../../trace/types.ts";
import { formatCount } from "../model/format.ts";
import {
  cutText,
  SHOWN_LENGTH,
  splitAtMatches,
  splitIntoChunks,
} from "../model/text.ts";
import { copyText } from "../state/files.ts";
import { query } from "../state/listing.ts";
import { Chip, Tool } from "./controls.tsx";

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

/** Maximum attributes before "Show all". */
const SHOWN_ATTRIBUTES = 50;

/** Names and values, with a button to copy each value. */
export function AttributeList({ of }: { of: SpanData["attributes"] }) {
  const full = useSignal(false);
  const entries = Object.entries(of);
  if (entries.length === 0) return null;
  const shown = full.value ? entries : entries.slice(0, SHOWN_ATTRIBUTES);
  return (
    <dl class="attributes">
      {shown.map(([name, value]) => (
        <div key={name}>
          <dt>
            <ValueText text={name} />
          </dt>
          <dd class={typeof value}>
            <ValueText text={String(value)} />
            <CopyButton text={String(value)} what={cutText(name, 60)} />
          </dd>
        </div>
      ))}
      {shown.length < entries.length && (
        <div>
          <dt />
          <dd>
            <Chip class="link" onClick={() => full.value = true}>
              Show all {entries.length}
            </Chip>
          </dd>
        </div>
      )}
    </dl>
  );
}

/** The number of items that weren't recorded. */
export function Dropped({ count }: { count: number }) {
  return count > 0 && <p class="muted">{count} more didn't fit</p>;
}

/** A button that copies a text. */
export function CopyButton({ text, what }: { text: string; what: string }) {
  return (
    <Tool
      class="copy"
      icon="copy"
      label={`Copy ${what}`}
      onClick={() => copyText(text, what)}
    />
  );
}
