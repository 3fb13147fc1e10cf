import { useSignal } from "@preact/signals";
import type { SpanData } from "../../trace/types.ts";
import { cutText } from "../model/text.ts";
import { copyText } from "../state/files.ts";
import { Chip, Tool } from "./controls.tsx";
import { ValueText } from "./value_text.tsx";

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
  const copy = () => copyText(text, what);
  return (
    <Tool
      class="copy"
      icon="copy"
      label={`Copy ${what}`}
      onClick={copy}
    />
  );
}
