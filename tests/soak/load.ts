/**
 * Mixed load: concurrent clients that perform random actions.
 *
 * @module
 */

import { ACCOUNTS } from "./actions/accounts.ts";
import type { Action } from "./actions/action.ts";
import { PAGES } from "./actions/pages.ts";
import { SOCKETS } from "./actions/sockets.ts";
import { HOSTILE } from "./actions/hostile.ts";
import { SeededRandom } from "../trace/export/random.ts";
import { within } from "./expect.ts";
import type { World } from "./world.ts";

export const ACTIONS: readonly Action[] = [
  ...PAGES,
  ...ACCOUNTS,
  ...SOCKETS,
  ...HOSTILE,
];

const WEIGHT = ACTIONS.reduce((sum, { weight }) => sum + weight, 0);
/** Maximum duration of an action, in milliseconds. A longer one has hung. */
const LIMIT = 60_000;

/** Messages of failures, with their counts. */
export type Failures = Map<string, number>;

/** Performs each action once, in sequence. */
export async function doEach(world: World, failures: Failures): Promise<void> {
  for (const action of ACTIONS) await perform(action, world, failures);
}

/**
 * Runs clients until there is enough load. Each has its own random numbers, so
 * its actions don't depend on the speed of the others.
 */
export async function applyLoad(
  world: World,
  { seed, clients }: { seed: number; clients: number },
  isEnough: () => boolean,
  failures: Failures,
): Promise<void> {
  await Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      const random = new SeededRandom(seed * 1_000 + client);
      const own = { ...world, random };
      while (!isEnough()) {
        await perform(choose(random.fraction()), own, failures);
      }
    }),
  );
}

function choose(fraction: number): Action {
  let rest = fraction * WEIGHT;
  return ACTIONS.find(({ weight }) => (rest -= weight) < 0)!;
}

async function perform(
  { name, run }: Action,
  world: World,
  failures: Failures,
): Promise<void> {
  try {
    await world.traffic.as(name, () => within(LIMIT, name, run(world)));
  } catch (error) {
    const failure = `${name}: ${(error as Error).message}`;
    failures.set(failure, (failures.get(failure) ?? 0) + 1);
  }
}
