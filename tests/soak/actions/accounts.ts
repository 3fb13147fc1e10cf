/** Sign-up, sign-in and sign-out, and actions of signed-in users. */

import { expect, holds } from "../expect.ts";
import { checkFavourites, signIn } from "../people.ts";
import type { Person } from "../people.ts";
import { addPerson, borrow, CODES } from "../world.ts";
import type { World } from "../world.ts";
import { REVALIDATE_SECRET } from "../atlas_process.ts";
import type { Action } from "./action.ts";

/**
 * Maximum number of users. More aren't needed: each sign-up and sign-in costs
 * as much as a hundred requests, because of the password hash.
 */
const MAX_POPULATION = 20;

const join: Action = {
  name: "sign up",
  weight: 0.1,
  async run(world) {
    if (world.counts.population < MAX_POPULATION) await addPerson(world);
    else await signOutAndIn.run(world);
  },
};

const signOutAndIn: Action = {
  name: "sign in",
  weight: 2,
  run: (world) =>
    borrow(world, world.people, async (person) => {
      const { visitor } = person;
      const copy = visitor.cookie;
      const path = world.random.pick(["/sign-out", "/sign-out-everywhere"]);
      expect((await visitor.submit(path)).status, 303, path);
      holds(
        visitor.browser.cookies.size === 0,
        "signing out removes the cookie",
      );
      const thief = await world.traffic.send(`${world.origin}/account`, {
        headers: { cookie: copy },
      });
      expect(thief.status, 401, "a copy of an old session's cookie");
      await signIn(person);
      const { status, text } = await visitor.open("/account");
      expect(status, 200, `account: ${text.slice(0, 100)}`);
    }),
};

const favourites: Action = {
  name: "favourites",
  weight: 20,
  run: (world) =>
    borrow(world, world.people, async (person) => {
      await toggle(world, person);
      const list = await person.visitor.rpc.favourites.list.query();
      checkFavourites(person, list);
    }),
};

const batches: Action = {
  name: "batch",
  weight: 8,
  run: (world) =>
    borrow(world, world.people, async (person) => {
      const { batched, favourites: codes } = person;
      const { add, list } = batched.favourites;
      const wanted = [1, 2, 3].map(() => world.random.pick(CODES));
      await Promise.all([
        ...wanted.map((code) => add.mutate({ code })),
        batched.countries.byCode.query({ code: "che" }),
      ]);
      for (const code of wanted) codes.add(code);
      checkFavourites(person, await list.query());
    }),
};

/** Adds or removes a favourite, and records what the server acknowledged. */
export async function toggle(
  { random }: World,
  { favourites, visitor: { rpc } }: Person,
): Promise<void> {
  const code = favourites.size > 0 && random.chance(0.5)
    ? random.pick([...favourites])
    : random.pick(CODES);
  if (favourites.has(code)) {
    await rpc.favourites.remove.mutate({ code });
    favourites.delete(code);
  } else {
    await rpc.favourites.add.mutate({ code });
    favourites.add(code);
  }
}

const edit: Action = {
  name: "admin",
  weight: 3,
  run: (world) =>
    borrow(world, world.admins, async ({ visitor }) => {
      const code = world.random.pick(CODES);
      const capital = `Capital ${world.random.below(1e9)}`;
      const path = `/admin/countries/${code}`;
      expect((await visitor.submit(path, { capital })).status, 303, path);
      const response = await world.traffic.send(
        `${world.origin}/countries/${code}`,
      );
      const text = await response.text();
      holds(text.includes(`<dd>${capital}</dd>`), `${code} shows ${capital}`);
    }),
};

const webhook: Action = {
  name: "webhook",
  weight: 3,
  async run({ origin, traffic, random }) {
    const ask = (secret: string) =>
      traffic.send(`${origin}/api/revalidate`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${secret}`,
          "content-type": "application/json",
        },
        body: JSON.stringify({ paths: [`/countries/${random.pick(CODES)}`] }),
      });
    expect((await ask(REVALIDATE_SECRET)).status, 200, "webhook");
    expect((await ask("a guess")).status, 401, "webhook without the secret");
  },
};

/** Actions of users, of the admin, and of a webhook. */
export const ACCOUNTS: readonly Action[] = [
  join,
  signOutAndIn,
  favourites,
  batches,
  edit,
  webhook,
];
