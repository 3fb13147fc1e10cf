/**
 * Hashes of passwords by scrypt (RFC 7914), as text in the PHC string format:
 * `$scrypt$ln=17,r=8,p=1$<salt>$<hash>`, both in base64 without padding.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { findProblem } from "../../core/check/check_options.ts";
import type { OptionRules } from "../../core/check/check_options.ts";
import { show } from "../../core/check/show.ts";
import { trimEnd } from "../../core/trim_end.ts";

/**
 * What a hash costs to compute: about 128 × 2^ln × r bytes of memory, and p times
 * as much work as it takes to fill and read them. The names are those that stand
 * in the hash.
 */
export interface PasswordHashOptions {
  /** The binary logarithm of scrypt's N, from 10 to 19. Default 17. */
  readonly ln?: number;
  /** The size of a block, from 1 to 32. Default 8. */
  readonly r?: number;
  /** How often, from 1 to 16. Default 1. */
  readonly p?: number;
}

const OPTIONS: OptionRules<PasswordHashOptions> = {
  ln: true,
  r: true,
  p: true,
};

/** The same, complete and within bounds. */
export type ScryptParameters = Required<PasswordHashOptions>;

/** A hash, taken apart. */
export interface PasswordHash {
  readonly parameters: ScryptParameters;
  readonly salt: Uint8Array;
  readonly hash: Uint8Array;
}

/** No hash takes more memory than this, in bytes. */
export const MAX_MEMORY = 512 * 1024 * 1024;
/** N × r × p: eight times the work of the default. */
const MAX_WORK = 2 ** 23;
const BOUNDS = { ln: [10, 19], r: [1, 32], p: [1, 16] } as const;

/** How many bytes the parts of a hash may have, and how many ours have. */
const SALT = { least: 8, most: 64 };
const HASH = { least: 16, most: 64 };
export const SALT_BYTES = 16;
export const HASH_BYTES = 32;

const PREFIX = "$scrypt$";
const PARAMETERS = /^ln=([1-9]\d?),r=([1-9]\d?),p=([1-9]\d?)$/;

/** The memory that a hash takes, in bytes (RFC 7914, section 2). */
export function memoryOf({ ln, r }: ScryptParameters): number {
  return 128 * 2 ** ln * r;
}

/**
 * The parameters to use.
 *
 * @param complaint What the message of an error begins with.
 * @throws {TypeError} If one is out of bounds, or all together ask too much.
 */
export function readParameters(
  options: PasswordHashOptions,
  complaint: string,
): ScryptParameters {
  const problem = findProblem(options, OPTIONS, "options");
  if (problem !== undefined) throw new TypeError(complaint + problem);
  const { ln = 17, r = 8, p = 1 } = options;
  const parameters = { ln, r, p };
  for (const name of ["ln", "r", "p"] as const) {
    const value: unknown = parameters[name];
    const [least, most] = BOUNDS[name];
    if (
      Number.isInteger(value) && value as number >= least &&
      value as number <= most
    ) continue;
    throw new TypeError(
      `${complaint}${name} must be an integer from ${least} to ${most}, received ${
        show(value)
      }`,
    );
  }
  // RFC 7914, section 2: N must be less than 2^(128 × r / 8).
  if (
    memoryOf(parameters) > MAX_MEMORY || 2 ** ln * r * p > MAX_WORK ||
    ln >= 16 * r
  ) {
    throw new TypeError(
      `${complaint}ln, r and p must ask for at most 512 MiB and 8 times the work of the default, with ln below 16 × r; received ln=${ln},r=${r},p=${p}`,
    );
  }
  return parameters;
}

/** The text of a hash. */
export function formatHash({ parameters, salt, hash }: PasswordHash): string {
  const { ln, r, p } = parameters;
  const params = `ln=${ln},r=${r},p=${p}`;
  return `${PREFIX}${params}$${encode(salt)}$${encode(hash)}`;
}

/**
 * Takes a hash apart.
 *
 * @throws {TypeError} If it is none, or asks for too much, as somebody might who
 * can write to the database. What is wrong is told, the hash is not.
 */
export function parseHash(text: unknown, complaint: string): PasswordHash {
  const wrong = (problem: string) =>
    new TypeError(`${complaint}the hash must ${problem}`);
  if (typeof text !== "string") {
    throw wrong(`be a string, received ${show(text)}`);
  }
  if (!text.startsWith(PREFIX)) {
    throw wrong(`begin with ${PREFIX}; hashPassword() makes such`);
  }
  const parts = text.slice(PREFIX.length, 400).split("$");
  if (parts.length !== 3 || text.length > 400) {
    throw wrong("have parameters, a salt and a hash, separated by $");
  }
  const numbers = PARAMETERS.exec(parts[0]!);
  if (numbers === null) throw wrong("have parameters such as ln=17,r=8,p=1");
  const [ln, r, p] = numbers.slice(1).map(Number);
  const parameters = readParameters(
    { ln: ln!, r: r!, p: p! },
    `${complaint}the hash's `,
  );
  const salt = decode(parts[1]!, SALT);
  const hash = decode(parts[2]!, HASH);
  if (salt === undefined || hash === undefined) {
    const [name, { least, most }] = salt === undefined
      ? ["salt", SALT] as const
      : ["hash", HASH] as const;
    throw wrong(
      `have a ${name} of ${least} to ${most} bytes in base64 without padding`,
    );
  }
  return { parameters, salt, hash };
}

function encode(bytes: Uint8Array): string {
  return trimEnd(Buffer.from(bytes).toString("base64"), "=");
}

function decode(
  text: string,
  { least, most }: { least: number; most: number },
): Uint8Array | undefined {
  const bytes = Buffer.from(text, "base64");
  // The one spelling of these bytes: what is no base64 is skipped by decoding.
  const isCanonical = encode(bytes) === text;
  return isCanonical && bytes.length >= least && bytes.length <= most
    ? bytes
    : undefined;
}
