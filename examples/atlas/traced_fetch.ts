// How Atlas asks other servers.

import { getActiveSpan, withSpan } from "@quartet/kit/trace";

/** Like `fetch`, as a span; a server that traces as well goes on below it. */
export const tracedFetch: typeof fetch = (input, init) => {
  if (getActiveSpan() === undefined) return fetch(input, init);
  const request = new Request(input, init);
  const name = `fetch ${request.method} ${new URL(request.url).pathname}`;
  return withSpan(name, "custom", ({ traceId, id }) => {
    request.headers.set("traceparent", `00-${traceId}-${id}-01`);
    return fetch(request);
  });
};
