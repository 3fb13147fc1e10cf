import { parseLink } from "../../trace/export/links.ts";
import type { SpanData } from "../../trace/types.ts";
import { formatUrlState } from "../model/url_state.ts";
import { readParts } from "../state/url_keys.ts";
import { Section } from "./controls.tsx";
import { ValueText } from "./value_text.tsx";

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
      {link && <SpanLink {...link}>Show the cause</SpanLink>}
    </Section>
  );
}

interface SpanLinkProps {
  readonly traceId: string;
  readonly spanId: string;
  readonly children: string;
}

/** A link to a span of any trace. The list stays as it is. */
export function SpanLink({ traceId, spanId, children }: SpanLinkProps) {
  const { view: _, zoom: __, compare: ___, ...list } = readParts();
  const href = formatUrlState({ ...list, trace: traceId, span: spanId });
  return <a class="link" href={href}>{children}</a>;
}
