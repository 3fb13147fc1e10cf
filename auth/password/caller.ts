/**
 * Finds the network that a password is hashed for, so that the queue can be fair.
 * The application calls the hash functions, and doesn't name its client.
 *
 * @module
 */

import { AsyncLocalStorage } from "node:async_hooks";
import { currentScope } from "../../app/scope.ts";
import { networkOfAddress } from "../sign_in/network_of_address.ts";

const networks = new AsyncLocalStorage<string>();

/** Runs the check of a sign-in for the network that has sent it. */
export function runFor<T>(network: string | undefined, check: () => T): T {
  return network === undefined ? check() : networks.run(network, check);
}

/**
 * The network that a password is hashed for: that of the sign-in, else that of
 * the request. Where neither is known, all callers are one.
 */
export function callerNetwork(): string {
  return networks.getStore() ?? networkOfRequest() ?? "";
}

function networkOfRequest(): string | undefined {
  const context = currentScope()?.context;
  if (context === undefined) return undefined;
  // The auth of a request knows of a proxy in front of the server.
  const auth: { readonly network?: string | undefined } | null | undefined =
    context.get("auth");
  if (auth?.network !== undefined) return auth.network;
  const address = context.info?.remoteAddr;
  return address !== undefined && "hostname" in address
    ? networkOfAddress(address.hostname)
    : undefined;
}
