import * as fc from "fast-check";
import { checkPrototypes } from "./prototypes.ts";

/**
 * Code that handles untrusted input, and a claim that must hold for any input.
 */
export interface Target {
  readonly name: string;
  /** The claim that must hold for any input. */
  readonly claim: string;
  run(parameters: Parameters): Promise<Outcome>;
}

export type Parameters = Pick<
  fc.Parameters,
  "seed" | "path" | "numRuns" | "interruptAfterTimeLimit"
>;

export interface Outcome {
  readonly runs: number;
  /** The number of inputs by the way they were handled. */
  readonly ways: ReadonlyMap<string, number>;
  /** The failure. Absent if all inputs passed. */
  readonly failure?: Failure;
}

export interface Failure {
  /** The smallest failing input found. */
  readonly input: unknown;
  /** Number of times that it was shrunk. */
  readonly shrinks: number;
  readonly error: unknown;
  /** Its position among the inputs of the seed. */
  readonly path: string;
}

/** A target that is ready to run. It's closed at the end of its block. */
export interface Subject<T> extends Partial<AsyncDisposable> {
  /**
   * Passes an input to the target.
   *
   * @returns One or two words for the way it was handled.
   * @throws {Error} If the claim doesn't hold.
   */
  readonly check: (input: T) => Promise<string> | string;
}

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
