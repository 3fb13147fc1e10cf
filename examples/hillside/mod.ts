/**
 * A local OAuth server for the demo and the tests. People sign in with a click.
 * Switches simulate faults of a provider.
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
