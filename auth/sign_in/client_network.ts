/**
 * The client network that work is done for. Limits and queues are per network.
 *
 * @module
 */

import { AsyncLocalStorage } from "node:async_hooks";
import { hostnameOf, networkOf } from "../../core/http/addresses.ts";
import { keyPart } from "../../core/key_part.ts";
import { currentScope } from "../../core/request_scope.ts";

const networks = new AsyncLocalStorage<string>();

/** Returns an address's network as part of a key, or `undefined` if unknown. */
export function networkOfAddress(
  address: string | undefined,
): string | undefined {
  return address ? keyPart(networkOf(address)) : undefined;
}

/** Runs a sign-in check for the network that sent it. */
export function runFor<T>(network: string | undefined, check: () => T): T {
  return network === undefined ? check() : networks.run(network, check);
}

/**
 * Returns the network of the sign-in, or else of the request. Without either,
 * all callers share one key. Applications hash passwords without naming the
 * client.
 */
export function callerNetwork(): string {
  return networks.getStore() ?? networkOfRequest() ?? "";
}

function networkOfRequest(): string | undefined {
  const context = currentScope()?.context;
  // The request's auth knows the client's address behind a proxy.
  const auth: { readonly network?: string | undefined } | null | undefined =
    context?.get("auth");
  return auth?.network ??
    networkOfAddress(hostnameOf(context?.info));
}
