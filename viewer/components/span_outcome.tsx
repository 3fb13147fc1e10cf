/**
 * Why a span ended as it did: a reason in words, or an error.
 *
 * @module
 */

import { exceptionOf } from "../../trace/export/attributes.ts";
import { parseLink } from "../../trace/export/semantics.ts";
import type { SpanData } from "../../trace/types.ts";
import { pathOfPlace, readStack } from "../model/stack.ts";
import { SHOWN_LENGTH } from "../model/text.ts";
import { isFailed, type SpanNode } from "../model/tree.ts";
import { canOpen, openPlace } from "../state/editor.ts";
import { copyText } from "../state/files.ts";
import { hashOfSpan } from "../state/url_keys.ts";
import { Chip } from "./controls.tsx";
import { ValueText } from "./values.tsx";

/** The attributes that have a place of their own. */
export const REASON_ATTRIBUTES: readonly string[] = ["app.reason", "app.cause"];

/** Why a span ended as it did, with a link to the span that caused it. */
export function Reason({ span: { attributes } }: { span: SpanData }) {
  const [reason, cause] = REASON_ATTRIBUTES.map((name) => attributes[name]);
  const link = parseLink(cause);
  return reason !== undefined && (
    <section aria-label="Reason" class="reason">
      <h4>
        <ValueText text={String(reason)} />
      </h4>
      {link && <a class="link" href={hashOfSpan(link)}>Show the cause</a>}
    </section>
  );
}

/** The error of a span, with its stack. */
export function Failure({ node }: { node: SpanNode }) {
  const { span } = node;
  const event = exceptionOf(span);
  if (event === undefined && !isFailed(span)) return null;
  const [type, message, stack] = ["type", "message", "stacktrace"]
    .map((name) => String(event?.attributes?.[`exception.${name}`] ?? ""));
  const head = [type, message].filter(Boolean).join(": ");
  const plain = event !== undefined
    ? "Exception"
    : span.status === "timeout"
    ? "Still open when its trace ended"
    : node.errorsBelow > 0
    ? "A span below failed"
    : "Failed without an exception";
  // Most stacks begin with the message.
  const frames = head && stack?.startsWith(`${head}\n`)
    ? stack.slice(head.length + 1)
    : stack;
  return (
    <section aria-label="Error" class="failure">
      <h4>
        <ValueText text={head || plain} />
      </h4>
      {frames && <Stack text={frames} />}
    </section>
  );
}

/**
 * A stack whose places open in the editor, or are copied. Places in libraries are
 * dimmed.
 */
function Stack({ text }: { text: string }) {
  if (text.length > SHOWN_LENGTH) {
    return <pre tabIndex={0}><ValueText text={text} /></pre>;
  }
  return (
    <pre class="stack" tabIndex={0}>
      {readStack(text).map(({ before, place, after, own }, i) => {
        const opens = own && canOpen(place);
        return (<div key={i} class={own ? "own" : "foreign"}>
          {before}
          {place !== "" && (
            <Chip
              class="link"
              title={opens ? "Open in the editor" : "Copy the path and line"}
              onClick={() =>
                opens
                  ? openPlace(place)
                  : copyText(pathOfPlace(place), "the path and line")}
            >
              {place}
            </Chip>
          )}
          {after}
        </div>);
      })}
    </pre>
  );
}
