import countries from "world-countries/countries.json" with { type: "json" };
import type { SeededRandom } from "../trace/export/random.ts";
import type { Person } from "./people.ts";
import { personOf, signIn, signUp } from "./people.ts";
import type { Traffic } from "./traffic.ts";

/** State that the actions of a load share. */
export interface World {
  readonly origin: string;
  readonly port: number;
  readonly traffic: Traffic;
  readonly random: SeededRandom;
  /** Users that no action is using: each does one thing at a time. */
  readonly people: Person[];
  /** The first users to sign up, while no action is using them. */
  readonly admins: Person[];
  readonly counts: {
    /** Total number of users. */
    population: number;
    /** Number of wrong passwords tried. An address is blocked after 100. */
    wrongPasswords: number;
  };
}

export const CODES: readonly string[] = countries.map(({ cca3 }) => cca3);

/**
 * Creates users with an account.
 *
 * @param names Their names. The first one is the admin.
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

/** Signs up another user. */
export async function addPerson(world: World): Promise<void> {
  const name = nameOf(world.counts.population++);
  const { origin, traffic } = world;
  world.people.push(await signUp(name, origin, traffic.send));
}

export const nameOf = (number: number): string => `Person${number}`;

/**
 * Removes a random user from a list while a function runs. If it fails, the
 * user isn't put back, because their state is unknown.
 *
 * @returns `false` if the list is empty.
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
