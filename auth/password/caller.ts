/**
 * Finds the client network that a password is hashed for, so that the queue is
 * fair. The application calls the hash functions without naming the client.
 *
 * @module
 */

import { AsyncLocalStorage } from "node:async_hooks";
import { currentScope } from "../../core/request_scope.ts";
import { networkOfAddress } from "../sign_in/network_of_address.ts";

const networks = new AsyncLocalStorage<string>();

/** Runs a sign-in check for the network that sent it. */
export function runFor<T>(network: string | undefined, check: () => T): T {
  return network === undefined ? check() : networks.run(network, check);
}

/**
 * Returns the network of the sign-in, or else of the request. Without either,
 * all callers share one key.
 */
export function callerNetwork(): string {
  return networks.getStore() ?? networkOfRequest() ?? "";
}

function networkOfRequest(): string | undefined {
  const context = currentScope()?.context;
  if (context === undefined) return undefined;
  // The request's auth knows the client's address behind a proxy.
  const auth: { readonly network?: string | undefined } | null | undefined =
    context.get("auth");
  if (auth?.network !== undefined) return auth.network;
  const address = context.info?.remoteAddr;
  return address !== undefined && "hostname" in address
    ? networkOfAddress(address.hostname)
    : undefined;
}
