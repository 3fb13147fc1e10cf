import { parseLink } from "../../trace/export/links.ts";
import type { SpanData } from "../../trace/types.ts";
import { hashOfSpan } from "../state/url_keys.ts";
import { Section } from "./controls.tsx";
import { ValueText } from "./values.tsx";

/** The attributes that have a place of their own. */
export const REASON_ATTRIBUTES: readonly string[] = ["app.reason", "app.cause"];

/** Why a span ended as it did, with a link to the span that caused it. */
export function Reason({ span: { attributes } }: { span: SpanData }) {
  const [reason, cause] = REASON_ATTRIBUTES.map((name) => attributes[name]);
  const link = parseLink(cause);
  return reason !== undefined && (
    <Section
      label="Reason"
      class="reason"
      title={<ValueText text={String(reason)} />}
    >
      {link && <a class="link" href={hashOfSpan(link)}>Show the cause</a>}
    </Section>
  );
}
