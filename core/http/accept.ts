/** A media range of `Accept` with its weight (RFC 9110, section 12.5.1). */
const RANGE = /^\s*([^\s;]+)\s*(?:;(.*))?$/;
const WEIGHT = /(?:^|;)\s*q\s*=\s*([\d.]+)/i;

/**
 * Whether a client prefers HTML to JSON, as browsers do when they navigate or
 * send a form. `fetch()` in a page accepts anything, and gets JSON.
 *
 * @param accept The `Accept` header.
 */
export function prefersHtml(accept: string | null): boolean {
  if (accept === null || !/text\/html/i.test(accept)) return false;
  const weights = new Map<string, number>();
  for (const part of accept.split(",")) {
    const [, type = "", parameters = ""] = RANGE.exec(part) ?? [];
    const weight = Number(WEIGHT.exec(parameters)?.[1] ?? 1);
    weights.set(type.toLowerCase(), weight || 0);
  }
  const html = weights.get("text/html") ?? 0;
  const json = weights.get("application/json");
  if (json !== undefined) return html > json;
  const others = weights.get("application/*") ?? weights.get("*/*") ?? 0;
  return html > 0 && html >= others;
}
