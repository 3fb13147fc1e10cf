/** The two parameters of a query by GET. */
export interface QueryParameters {
  /** The procedure's dotted path; `null` if there is none. */
  path: string | null;
  /** The input as JSON; `null` if there is none. */
  input: string | null;
}

/**
 * Reads `path` and `input` from the query string of a URL, like
 * `searchParams.get()` of a `URL`, at an eighth of its cost.
 */
export function readQueryString(url: string): QueryParameters {
  const found: QueryParameters = { path: null, input: null };
  let start = url.indexOf("?") + 1;
  let end = url.indexOf("#");
  if (end === -1) end = url.length;
  // No query, or a question mark inside the fragment.
  if (start === 0 || start > end) return found;
  // The standard parser handles escapes in names, and malformed escapes.
  while (start < end) {
    let next = url.indexOf("&", start);
    if (next === -1 || next > end) next = end;
    if (url.startsWith("path=", start)) {
      found.path ??= url.slice(start + 5, next);
    } else if (url.startsWith("input=", start)) {
      found.input ??= url.slice(start + 6, next);
    } else if (!PLAIN_NAME.test(url.slice(start, next))) {
      return parse(url);
    }
    start = next + 1;
  }
  try {
    if (found.path !== null) found.path = decode(found.path);
    if (found.input !== null) found.input = decode(found.input);
    return found;
  } catch {
    return parse(url);
  }
}

/** Another parameter, whose name has no escapes. */
const PLAIN_NAME = /^(?!(?:path|input)$)[^%+=]*(?:=|$)/;

function decode(text: string): string {
  if (text.includes("+")) text = text.replaceAll("+", " ");
  return text.includes("%") ? decodeURIComponent(text) : text;
}

function parse(url: string): QueryParameters {
  const query = url.slice(url.indexOf("?"));
  const parameters = new URLSearchParams(query.split("#", 1)[0]);
  return { path: parameters.get("path"), input: parameters.get("input") };
}
