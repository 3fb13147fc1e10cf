import countries from "world-countries/countries.json" with { type: "json" };
import type { SeededRandom } from "../trace/export/random.ts";
import type { Person } from "./people.ts";
import { personOf, signIn, signUp } from "./people.ts";
import type { Traffic } from "./traffic.ts";

/** What the actions of a load share. */
export interface World {
  readonly origin: string;
  readonly port: number;
  readonly traffic: Traffic;
  readonly random: SeededRandom;
  /** Those whom no action has at the moment: one action at a time each. */
  readonly people: Person[];
  /** The first to have signed up, while no action has them. */
  readonly admins: Person[];
  readonly counts: {
    /** How many people there are, busy or not. */
    population: number;
    /** Passwords tried in vain: after 100 of them an address is kept out. */
    wrongPasswords: number;
  };
}

/** The codes of all countries. */
export const CODES: readonly string[] = countries.map(({ cca3 }) => cca3);

/**
 * Makes a world of people who have an account.
 *
 * @param names Theirs; the first one is the admin.
 */
export async function createWorld(
  { origin, port }: { origin: string; port: number },
  traffic: Traffic,
  random: SeededRandom,
  names: readonly string[],
): Promise<World> {
  const everybody = names.map((name) => personOf(name, origin, traffic.send));
  for (const person of everybody) await signIn(person);
  return {
    origin,
    port,
    traffic,
    random,
    people: everybody.slice(1),
    admins: everybody.slice(0, 1),
    counts: { population: names.length, wrongPasswords: 0 },
  };
}

/** Signs somebody up. */
export async function addPerson(world: World): Promise<void> {
  const name = nameOf(world.counts.population++);
  const { origin, traffic } = world;
  world.people.push(await signUp(name, origin, traffic.send));
}

/** Names people by a number. */
export const nameOf = (number: number): string => `Person${number}`;

/**
 * Takes somebody out of a list for as long as a function runs. Whoever it fails
 * with does not come back: nobody knows what is true of them.
 *
 * @returns `false` if there is nobody.
 */
export async function borrow(
  world: World,
  list: Person[],
  fn: (person: Person) => Promise<void>,
): Promise<boolean> {
  if (list.length === 0) return false;
  const [person] = list.splice(world.random.below(list.length), 1);
  await fn(person!);
  list.push(person!);
  return true;
}
