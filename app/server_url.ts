import type { NetAddress } from "../core/context.ts";

/**
 * The URL at which a browser on this machine finds a server. `0.0.0.0` and
 * `::` stand for all addresses of the machine, and are none to go to.
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
