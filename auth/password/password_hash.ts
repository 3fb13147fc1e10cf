/**
 * Hashes of passwords by scrypt (RFC 7914), as text in the PHC string format:
 * `$scrypt$ln=17,r=8,p=1$<salt>$<hash>`, both in base64 without padding.
 *
 * @module
 */

import { decodeBase64, encodeBase64 } from "../../core/bytes/base64.ts";
import { findProblem, type OptionRules } from "../../core/check/options.ts";
import { anIntegerBetween, show } from "../../core/check/rules.ts";
import { trimEnd } from "../../core/trim_end.ts";

/**
 * The cost of a hash: about 128 × 2^ln × r bytes of memory, and p times the work
 * of filling and reading them. The hash contains the same names.
 */
export interface PasswordHashOptions {
  /** The binary logarithm of scrypt's N, from 10 to 19. Default: 17. */
  readonly ln?: number;
  /** The size of a block, from 1 to 32. Default: 8. */
  readonly r?: number;
  /** The number of repetitions, from 1 to 16. Default: 1. */
  readonly p?: number;
}

const OPTIONS: OptionRules<PasswordHashOptions> = {
  ln: anIntegerBetween(10, 19),
  r: anIntegerBetween(1, 32),
  p: anIntegerBetween(1, 16),
};

/** The same, complete and within bounds. */
export type ScryptParameters = Required<PasswordHashOptions>;

/** A parsed hash. */
interface PasswordHash {
  readonly parameters: ScryptParameters;
  readonly salt: Uint8Array;
  readonly hash: Uint8Array;
}

/** Maximum memory of a hash, in bytes. */
export const MAX_MEMORY = 512 * 1024 * 1024;
/** N × r × p: eight times the work of the default. */
const MAX_WORK = 2 ** 23;

/** The lengths in bytes that are accepted, and that new hashes have. */
const SALT = { name: "salt", least: 8, most: 64 };
const HASH = { name: "hash", least: 16, most: 64 };
export const SALT_BYTES = 16;
export const HASH_BYTES = 32;

const PREFIX = "$scrypt$";
/** Maximum characters of a hash. */
const MAX_TEXT = 400;
const PARAMETERS = /^ln=([1-9]\d?),r=([1-9]\d?),p=([1-9]\d?)$/;

/** Returns the memory of a hash in bytes (RFC 7914, section 2). */
export function memoryOf({ ln, r }: ScryptParameters): number {
  return 128 * 2 ** ln * r;
}

/**
 * Returns the options with their defaults.
 *
 * @param start The start of error messages.
 * @throws {TypeError} If one is out of bounds, or together they cost too much.
 */
export function readParameters(
  options: PasswordHashOptions,
  start: string,
): ScryptParameters {
  const problem = findProblem(options, OPTIONS, "options");
  if (problem !== undefined) throw new TypeError(start + problem);
  const { ln = 17, r = 8, p = 1 } = options;
  const parameters = { ln, r, p };
  // RFC 7914, section 2: N must be less than 2^(128 × r / 8).
  if (
    memoryOf(parameters) > MAX_MEMORY || 2 ** ln * r * p > MAX_WORK ||
    ln >= 16 * r
  ) {
    throw new TypeError(
      `${start}ln, r and p must ask for at most 512 MiB and 8 times the work of the default, with ln below 16 × r; received ln=${ln},r=${r},p=${p}`,
    );
  }
  return parameters;
}

/** Returns the text of a hash. */
export function formatHash({ parameters, salt, hash }: PasswordHash): string {
  const { ln, r, p } = parameters;
  return `${PREFIX}ln=${ln},r=${r},p=${p}$${encode(salt)}$${encode(hash)}`;
}

/**
 * Parses the text of a hash.
 *
 * @param start The start of error messages, which never show the hash.
 * @throws {TypeError} If it isn't a scrypt hash. Or if it costs too much, since
 * an attacker may be able to write to the database.
 */
export function parseHash(text: unknown, start: string): PasswordHash {
  const wrong = (problem: string) =>
    new TypeError(`${start}the hash must ${problem}`);
  if (typeof text !== "string") {
    throw wrong(`be a string, received ${show(text)}`);
  }
  if (!text.startsWith(PREFIX)) {
    throw wrong(`begin with ${PREFIX}; hashPassword() makes such`);
  }
  const parts = text.slice(PREFIX.length, MAX_TEXT).split("$");
  if (parts.length !== 3 || text.length > MAX_TEXT) {
    throw wrong("have parameters, a salt and a hash, separated by $");
  }
  const numbers = PARAMETERS.exec(parts[0]!);
  if (numbers === null) throw wrong("have parameters such as ln=17,r=8,p=1");
  const [ln = 0, r = 0, p = 0] = numbers.slice(1).map(Number);
  const parameters = readParameters({ ln, r, p }, `${start}the hash's `);
  const [salt, hash] = ([SALT, HASH] as const).map(
    ({ name, least, most }, i) => {
      const bytes = decode(parts[i + 1]!);
      if (bytes && bytes.length >= least && bytes.length <= most) return bytes;
      throw wrong(
        `have a ${name} of ${least} to ${most} bytes in base64 without padding`,
      );
    },
  );
  return { parameters, salt: salt!, hash: hash! };
}

function encode(bytes: Uint8Array): string {
  return trimEnd(encodeBase64(bytes), "=");
}

/** Returns the bytes of base64 without padding, if it is their one spelling. */
function decode(text: string): Uint8Array | undefined {
  try {
    const bytes = decodeBase64(text);
    return encode(bytes) === text ? bytes : undefined;
  } catch {
    return undefined;
  }
}
