/**
 * Who uses Atlas in the soak, and what they know to be true of it.
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

/** Somebody with an account. */
export interface Person {
  readonly name: string;
  readonly visitor: Visitor;
  /** As `visitor.rpc`, but the calls of a tick go as one. */
  readonly batched: Visitor["rpc"];
  /** The codes of what the server has acknowledged as theirs. */
  readonly favourites: Set<string>;
}

/**
 * Writes accounts into the database of a server that does not run yet, as if
 * people had signed up. Their passwords' hashes cost little: it is not those
 * that the load is to be made of.
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

/** Signs somebody up under a name that nobody has had. */
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

/** Somebody who has an account and has not signed in. */
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

/** Signs somebody in who has an account. */
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

/** The codes of countries, in order. */
export function codesOf(countries: readonly { code: string }[]): string[] {
  return countries.map(({ code }) => code).sort();
}

/** Checks that the server's favourites are those that it has acknowledged. */
export function checkFavourites(
  { name, favourites }: Person,
  found: readonly { code: string }[],
): void {
  equal(codesOf(found), [...favourites].sort(), `favourites of ${name}`);
}
