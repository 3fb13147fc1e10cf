/**
 * The prototypes that everything shares: no input may change them.
 *
 * @module
 */

const PROTOTYPES = [Object, Array, Function, Map, Set, Error, Promise]
  .map(({ prototype }) => prototype as object);

const before = PROTOTYPES.map(namesOf);

/** Throws if anything was added to a prototype, or taken away. */
export function checkPrototypes(): void {
  PROTOTYPES.forEach((prototype, i) => {
    const now = namesOf(prototype);
    if (now !== before[i]) {
      throw new Error(`A prototype was changed: it has ${now}`);
    }
  });
}

function namesOf(prototype: object): string {
  return Reflect.ownKeys(prototype).map(String).join();
}
