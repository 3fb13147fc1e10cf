/**
 * A local OAuth server with a page on which people sign in by a click, and
 * with switches for all that can be wrong with a provider.
 *
 * @module
 */

export { FAULTS, PROVIDER_TEXT } from "./faults.ts";
export type { Fault } from "./faults.ts";
export type { GitHub } from "./github.ts";
export type { Google, IdTokenFault } from "./google.ts";
export type { Client } from "./grants.ts";
export { GUILD, PEOPLE } from "./people.ts";
export type { Person } from "./people.ts";
export { createOAuthServer } from "./server.ts";
export type { OAuthServer, OAuthServerOptions, SeenRequest } from "./server.ts";
