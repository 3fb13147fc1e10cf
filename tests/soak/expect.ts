/** A failed check of the soak. The message contains the expected value. */
export class SoakError extends Error {
  /** Always `SoakError`. */
  override readonly name = "SoakError";
}

/** Checks a response's status. */
export function expect(
  status: number,
  wanted: number | readonly number[],
  what: string,
): void {
  if ([wanted].flat().includes(status)) return;
  throw new SoakError(`Expected status ${wanted}, received ${status}: ${what}`);
}

/** Checks that two values have the same JSON. */
export function equal(value: unknown, wanted: unknown, what: string): void {
  const [found, expected] = [JSON.stringify(value), JSON.stringify(wanted)];
  if (found === expected) return;
  throw new SoakError(`Expected ${expected}, received ${found}: ${what}`);
}

/** Checks a condition. */
export function holds(fact: boolean, what: string): void {
  if (!fact) throw new SoakError(`Check failed: ${what}`);
}

/**
 * Waits for a promise, up to a time limit.
 *
 * @param limit In milliseconds.
 */
export async function within<T>(
  limit: number,
  what: string,
  promise: Promise<T>,
): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    return await Promise.race([
      promise,
      new Promise<never>((_resolve, reject) => {
        timer = setTimeout(
          () => reject(new SoakError(`It took over ${limit} ms: ${what}`)),
          limit,
        );
      }),
    ]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Repeats a check until it succeeds or the time is up.
 *
 * @param limit In milliseconds.
 * @returns Whether it succeeded.
 */
export async function poll(
  limit: number,
  isSo: () => boolean | Promise<boolean>,
): Promise<boolean> {
  const end = performance.now() + limit;
  while (!await isSo()) {
    if (performance.now() > end) return false;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return true;
}
