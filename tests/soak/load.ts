/**
 * Mixed load: clients side by side, each doing one thing after another.
 *
 * @module
 */

import { ACCOUNTS } from "./actions/accounts.ts";
import type { Action } from "./actions/action.ts";
import { PAGES } from "./actions/pages.ts";
import { SOCKETS } from "./actions/sockets.ts";
import { STRANGERS } from "./actions/strangers.ts";
import { SeededRandom } from "../trace/export/random.ts";
import { within } from "./expect.ts";
import type { World } from "./world.ts";

/** Everything that is done. */
export const ACTIONS: readonly Action[] = [
  ...PAGES,
  ...ACCOUNTS,
  ...SOCKETS,
  ...STRANGERS,
];

const WEIGHT = ACTIONS.reduce((sum, { weight }) => sum + weight, 0);
/** An action that takes longer than this has hung, in milliseconds. */
const LIMIT = 60_000;

/** What went wrong, and how often. */
export type Failures = Map<string, number>;

/** Does each thing once, one after another. */
export async function doEach(world: World, failures: Failures): Promise<void> {
  for (const action of ACTIONS) await perform(action, world, failures);
}

/**
 * Lets so many clients do things until there has been enough. Each has numbers
 * of its own, so that what one does is no matter of how fast the others are.
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
