/**
 * Checks the address of a server, and listens on it and to signals.
 *
 * @module
 */

import { kindOf } from "../core/check/rules.ts";
import { printableError } from "../core/redact/printable.ts";
import { currentScope } from "../core/request_scope.ts";

/** Listens. Unlike Deno's errors, these name the address. */
export function listen(
  options:
    | Deno.ServeTcpOptions
    | (Deno.ServeTcpOptions & Deno.TlsCertifiedKeyPem),
  handler: Deno.ServeHandler<Deno.NetAddr>,
): Deno.HttpServer<Deno.NetAddr> {
  try {
    return Deno.serve({ ...options, onError: endResponse }, handler);
  } catch (cause) {
    const { InvalidData, AddrInUse } = Deno.errors;
    // Invalid data is in the certificate or its key.
    if (!(cause instanceof Error) || cause instanceof InvalidData) throw cause;
    const Kind = cause.constructor as ErrorConstructor;
    const problem = Kind === AddrInUse ? "it is in use" : cause.message;
    throw new Kind(
      `Cannot listen on ${options.hostname}:${options.port}: ${problem}`,
      { cause },
    );
  }
}

/** Reports an error that the app didn't handle. Mostly a body has failed. */
function endResponse(error: unknown): Response {
  const span = currentScope()?.span;
  span?.event("response.failed");
  span?.error(error);
  console.error("Cannot send response:", printableError(error));
  return new Response("Internal Server Error", { status: 500 });
}

/** Checks the certificate and its key. Errors contain neither. */
export function readTLS(
  { cert, key }: { readonly cert?: string; readonly key?: string },
): { readonly cert: string; readonly key: string } | undefined {
  if (cert === undefined && key === undefined) return undefined;
  if (typeof cert === "string" && typeof key === "string") return { cert, key };
  const received = `${kindOf(cert)} and ${kindOf(key)}`;
  throw new TypeError(
    `Cannot serve: cert and key must both be text in PEM, received ${received}`,
  );
}

/**
 * Listens for the signals that end a process: SIGINT and SIGTERM, or SIGBREAK
 * on Windows.
 *
 * @returns A function that stops listening.
 */
export function listenToSignals(listener: () => void): () => void {
  const names: Deno.Signal[] = Deno.build.os === "windows"
    ? ["SIGINT", "SIGBREAK"]
    : ["SIGINT", "SIGTERM"];
  for (const name of names) Deno.addSignalListener(name, listener);
  return () => {
    for (const name of names) Deno.removeSignalListener(name, listener);
  };
}
