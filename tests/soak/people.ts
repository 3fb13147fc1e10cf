/**
 * Users of Atlas in the soak, and the state that the server acknowledged to
 * each.
 *
 * @module
 */

import { hashPassword } from "@quartet/kit/auth";
import { batching, createClient } from "@quartet/kit/rpc/client";
import type { Api } from "../../examples/atlas/api.ts";
import { openDatabase } from "../../examples/atlas/database.ts";
import { addUser } from "../../examples/atlas/user.ts";
import { createVisitor, emailOf, PASSWORD } from "../atlas/serve_atlas.ts";
import type { Page, Visitor } from "../atlas/serve_atlas.ts";
import { equal, expect } from "./expect.ts";

/** A user with an account. */
export interface Person {
  readonly name: string;
  readonly visitor: Visitor;
  /** Same as `visitor.rpc`, but batches the calls of a tick. */
  readonly batched: Visitor["rpc"];
  /** Codes of the favourites that the server acknowledged. */
  readonly favourites: Set<string>;
}

/**
 * Writes accounts into the database before the server starts. Their password
 * hashes are cheap, so that hashing doesn't dominate the load.
 */
export async function createAccounts(
  file: string,
  names: readonly string[],
): Promise<void> {
  const passwordHash = await hashPassword(PASSWORD, { ln: 10 });
  const database = openDatabase(file);
  for (const name of names) {
    addUser(database, { name, email: emailOf(name), passwordHash });
  }
  database.close();
}

/** Signs up a user under an unused name. */
export async function signUp(
  name: string,
  origin: string,
  send: typeof fetch,
): Promise<Person> {
  const person = personOf(name, origin, send);
  const email = emailOf(name);
  const fields = { name, email, password: PASSWORD };
  expectRedirect(await person.visitor.submit("/sign-up", fields), "sign-up");
  return person;
}

/** Returns a user who has an account but isn't signed in. */
export function personOf(
  name: string,
  origin: string,
  send: typeof fetch,
): Person {
  const visitor = createVisitor(origin, send);
  return {
    name,
    visitor,
    batched: createClient<Api>({
      httpEndpoint: `${origin}/api/rpc`,
      fetch: send,
      headers: () => ({ cookie: visitor.cookie }),
      batch: batching,
    }),
    favourites: new Set(),
  };
}

/** Signs in a user who has an account. */
export async function signIn({ name, visitor }: Person): Promise<void> {
  const page = await visitor.submit("/sign-in", {
    email: emailOf(name),
    password: PASSWORD,
  });
  expectRedirect(page, "sign-in");
}

function expectRedirect({ status, text }: Page, what: string): void {
  expect(status, 303, `${what}: ${text.slice(0, 200)}`);
}

/** Returns the codes of countries, sorted. */
export function codesOf(countries: readonly { code: string }[]): string[] {
  return countries.map(({ code }) => code).sort();
}

/** Checks that the server's favourites equal the acknowledged ones. */
export function checkFavourites(
  { name, favourites }: Person,
  found: readonly { code: string }[],
): void {
  equal(codesOf(found), [...favourites].sort(), `favourites of ${name}`);
}
