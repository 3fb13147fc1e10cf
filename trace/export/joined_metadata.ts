import type { SpanData, TraceMetadata } from "../types.ts";
import { attributeText } from "./attributes.ts";
import { ACTION, isClientSpan, metadataOf, wasSent } from "./semantics.ts";

/**
 * Returns the metadata of a joined trace.
 *
 * A page load has the metadata of its document's request. A navigation or interaction
 * has the page's path, and the status of its first failed request, or else of
 * its first request.
 *
 * @param spans In order of their start.
 */
export function joinedMetadata(
  root: SpanData,
  spans: readonly SpanData[],
): TraceMetadata {
  if (!isClientSpan(root)) return metadataOf(root);
  const origin = "client";
  const action = root.attributes[ACTION];
  const requests = requestsOf(spans);
  const [first] = requests;
  if (action === undefined || action === "load") {
    // The resources of a page have their own spans above their requests.
    const own = requests.find(({ parentId }) => parentId === root.id);
    const request = own ?? (action === undefined ? first : undefined) ?? root;
    return { ...metadataOf(request), origin };
  }
  const failed = requests.find((span) => (statusOf(span) ?? 0) >= 400);
  const statusCode = statusOf(failed ?? first);
  const pathname = attributeText(root, "url.path");
  return {
    origin,
    ...(pathname !== undefined && { pathname }),
    ...(statusCode !== undefined && { statusCode }),
  };
}

/** The requests that servers received, or else those that the page sent. */
function requestsOf(spans: readonly SpanData[]): SpanData[] {
  const requests = spans.filter((span) =>
    span.layer === "request" && statusOf(span) !== undefined
  );
  const received = requests.filter((span) => !wasSent(span));
  return received.length > 0 ? received : requests;
}

function statusOf(span: SpanData | undefined): number | undefined {
  return span && metadataOf(span).statusCode;
}
