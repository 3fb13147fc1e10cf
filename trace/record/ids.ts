import { isHex, toHex } from "../../core/bytes/bytes.ts";

/** Fills an array with random bytes, as `crypto.getRandomValues` does. */
export type RandomSource = (bytes: Uint8Array<ArrayBuffer>) => void;

/**
 * Whether a value is an id of some bytes: 16 for a trace, 8 for a span. An
 * all-zero id is invalid.
 */
export function isId(value: unknown, bytes: number): value is string {
  return typeof value === "string" && isHex(value, bytes) &&
    !ZEROS.startsWith(value);
}

/** Creates ids from one source of randomness. */
export interface IdGenerator {
  /** 32 lower-case hex digits, never all zero. */
  traceId(): string;
  /** 16 lower-case hex digits, never all zero. */
  spanId(): string;
}

const ZEROS = "0".repeat(32);

/**
 * The number of random bytes for each call, which costs more than the bytes.
 */
const POOL_SIZE = 4096;

/**
 * Creates a generator of ids (W3C Trace Context §3.2.2.3 and §3.2.2.4).
 *
 * @param random The source of randomness. Default: the system's.
 */
export function createIdGenerator(
  random: RandomSource = (bytes) => crypto.getRandomValues(bytes),
): IdGenerator {
  const pool = new Uint8Array(POOL_SIZE);
  let used = POOL_SIZE;

  /** An all-zero id is invalid, so another one is drawn. */
  function next(length: number): string {
    while (true) {
      if (used + length > POOL_SIZE) {
        random(pool);
        used = 0;
      }
      const id = toHex(pool.subarray(used, used += length));
      if (!ZEROS.startsWith(id)) return id;
    }
  }

  return { traceId: () => next(16), spanId: () => next(8) };
}

/** The generator for tracers without their own `random`. */
export const systemIds: IdGenerator = createIdGenerator();

/**
 * Returns a random trace id (W3C Trace Context §3.2.2.3).
 *
 * @returns 32 lower-case hex digits, never all zero.
 *
 * @example
 * ```ts
 * import { generateTraceId } from "@quartet/kit/trace";
 *
 * console.assert(/^[0-9a-f]{32}$/.test(generateTraceId()));
 * ```
 */
export function generateTraceId(): string {
  return systemIds.traceId();
}

/**
 * Returns a random span id (W3C Trace Context §3.2.2.4).
 *
 * @returns 16 lower-case hex digits, never all zero.
 *
 * @example
 * ```ts
 * import { generateSpanId } from "@quartet/kit/trace";
 *
 * console.assert(/^[0-9a-f]{16}$/.test(generateSpanId()));
 * ```
 */
export function generateSpanId(): string {
  return systemIds.spanId();
}
