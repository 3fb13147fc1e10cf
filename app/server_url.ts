import type { NetAddress } from "../core/context.ts";

/**
 * Returns the URL of a server for a browser on this machine. `0.0.0.0` and `::`
 * stand for all addresses, and can't be opened.
 */
export function serverURL(
  { hostname, port }: NetAddress,
  scheme: "http" | "https" = "http",
): string {
  const host = hostname === "0.0.0.0" || hostname === "::"
    ? "localhost"
    : hostname.includes(":")
    ? `[${hostname}]`
    : hostname;
  return `${scheme}://${host}:${port}/`;
}
