import type { World } from "../world.ts";

/** An action of a client. */
export interface Action {
  /** Its kind: its requests are timed under this name. */
  readonly name: string;
  /** Relative frequency. */
  readonly weight: number;
  /**
   * Performs it once and checks the outcome.
   *
   * @throws {Error} If the outcome isn't as expected.
   */
  readonly run: (world: World) => Promise<unknown>;
}
