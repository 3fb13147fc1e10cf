import * as fc from "fast-check";
import { checkPrototypes } from "./prototypes.ts";

/** Something that takes input from strangers, and what must hold of it. */
export interface Target {
  readonly name: string;
  /** What must hold, whatever comes. */
  readonly claim: string;
  /** Tries it. */
  run(parameters: Parameters): Promise<Outcome>;
}

/** How a target is tried. */
export type Parameters = Pick<
  fc.Parameters,
  "seed" | "path" | "numRuns" | "interruptAfterTimeLimit"
>;

/** What came of it. */
export interface Outcome {
  /** How many inputs were tried. */
  readonly runs: number;
  /** How often inputs were taken in which way. */
  readonly ways: ReadonlyMap<string, number>;
  /** Absent if none of them has failed. */
  readonly failure?: Failure;
}

/** An input that has failed. */
export interface Failure {
  /** As small as it was found. */
  readonly input: unknown;
  /** How many times it was made smaller. */
  readonly shrinks: number;
  readonly error: unknown;
  /** Where it is among the inputs of the seed. */
  readonly path: string;
}

/** A target that is ready. Ends with the block that it was opened in. */
export interface Subject<T> extends Partial<AsyncDisposable> {
  /**
   * Gives it an input.
   *
   * @returns How it was taken, in a word.
   * @throws {Error} If what must hold does not.
   */
  readonly check: (input: T) => Promise<string> | string;
}

/** Makes a target. */
export function defineTarget<T>(
  name: string,
  claim: string,
  input: fc.Arbitrary<T>,
  open: () => Promise<Subject<T>> | Subject<T>,
): Target {
  return {
    name,
    claim,
    async run(parameters) {
      const subject = await open();
      try {
        const ways = new Map<string, number>();
        const property = fc.asyncProperty(input, async (value) => {
          const way = await subject.check(value);
          ways.set(way, (ways.get(way) ?? 0) + 1);
          checkPrototypes();
        });
        return outcomeOf(await fc.check(property, parameters), ways);
      } finally {
        await subject[Symbol.asyncDispose]?.();
      }
    },
  };
}

function outcomeOf<T>(
  details: fc.RunDetails<[T]>,
  ways: Outcome["ways"],
): Outcome {
  const { numRuns: runs, numShrinks: shrinks } = details;
  if (!details.failed) return { runs, ways };
  return {
    runs,
    ways,
    failure: {
      input: details.counterexample?.[0],
      shrinks,
      error: details.errorInstance,
      path: details.counterexamplePath ?? "",
    },
  };
}
