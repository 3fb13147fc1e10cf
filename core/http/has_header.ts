/**
 * Whether a request has a header. On Deno, `headers.has()` copies all headers of
 * a request first, and the copy lives as long as the request. `get()` doesn't.
 */
export function hasHeader(headers: Headers, name: string): boolean {
  return headers.get(name) !== null;
}
