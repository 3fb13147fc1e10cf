/**
 * Shared prototypes, which no input may change.
 *
 * @module
 */

const PROTOTYPES = [Object, Array, Function, Map, Set, Error, Promise]
  .map(({ prototype }) => prototype as object);

const before = PROTOTYPES.map(namesOf);

/** Throws if a property was added to a shared prototype or removed from it. */
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
