import type { World } from "../world.ts";

/** Something that people do. */
export interface Action {
  /** Under which its requests are counted. */
  readonly name: string;
  /** How often it is done, compared with the others. */
  readonly weight: number;
  /**
   * Does it once, and checks what comes of it.
   *
   * @throws {Error} If anything is not as it should be.
   */
  readonly run: (world: World) => Promise<unknown>;
}
