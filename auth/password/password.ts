/**
 * Passwords, kept as hashes that are slow to guess.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { kindOf } from "../../core/check/show.ts";
import { AuthError } from "../error.ts";
import { callerNetwork } from "./caller.ts";
import { MemoryQueue, QueueFullError } from "./memory_queue.ts";
import {
  formatHash,
  HASH_BYTES,
  MAX_MEMORY,
  memoryOf,
  parseHash,
  readParameters,
  SALT_BYTES,
} from "./password_hash.ts";
import type { PasswordHashOptions, ScryptParameters } from "./password_hash.ts";

/** The longest password, in bytes of UTF-8. */
const MAX_BYTES = 1024;
/** What cheap hashes are counted as: 16 run at once at most. */
const LEAST_MEMORY = MAX_MEMORY / 16;
/** More would wait longer than anybody waits for an answer. */
const MAX_WAITING = 256;

const queue = new MemoryQueue(MAX_MEMORY, MAX_WAITING);

/**
 * Hashes a password with scrypt and a random salt. The default parameters are
 * those that OWASP recommends (Password Storage Cheat Sheet): 128 MiB and about
 * a third of a second.
 *
 * The work is done by other threads, as much at once as fits in 512 MiB; the
 * rest waits. Client networks take turns, so a flood from some of them doesn't
 * keep others waiting.
 *
 * @param password The password, of 1 to 1,024 bytes. Spellings that look the
 * same are the same (Unicode's NFKC, as NIST SP 800-63B says).
 * @param options What the hash costs. Less than the default is for tests.
 * @returns A text to keep, such as `$scrypt$ln=17,r=8,p=1$…$…`.
 * @throws {TypeError} If the password is empty or too long, or an option out of
 * bounds.
 * @throws {AuthError} `RATE_LIMITED` if 256 are waiting, unless another network
 * has more.
 *
 * @example
 * ```ts
 * import { hashPassword, verifyPassword } from "@quartet/kit/auth";
 *
 * const hash = await hashPassword("correct horse battery staple");
 * console.assert(hash.startsWith("$scrypt$ln=17,r=8,p=1$"));
 * console.assert(await verifyPassword("correct horse battery staple", hash));
 * console.assert(!await verifyPassword("Tr0ub4dor&3", hash));
 * ```
 */
export async function hashPassword(
  password: string,
  options: PasswordHashOptions = {},
): Promise<string> {
  const parameters = readParameters(options, "Cannot hash password: ");
  const text = normalize(password);
  if (text === undefined) {
    throw new TypeError(
      `Cannot hash password: it must be a string of 1 to ${MAX_BYTES} bytes, received ${
        typeof password !== "string"
          ? kindOf(password)
          : password === ""
          ? "an empty one"
          : "a longer one"
      }`,
    );
  }
  const salt = randomBytes(SALT_BYTES);
  const hash = await derive(text, salt, parameters, HASH_BYTES);
  return formatHash({ parameters, salt, hash });
}

/**
 * Whether a password is the one that was hashed.
 *
 * Where there is no hash since there is no such user, hand over `null`: it takes
 * as long as for a wrong password, so that nobody learns who has an account. So
 * do passwords that can't be right, such as one that is too long or no string.
 *
 * @param password What somebody says is the password, as it came.
 * @param hash What {@linkcode hashPassword} has returned; nothing for unknown
 * users.
 * @param options The options that passwords are hashed with, so that unknown
 * users cost the same. For a hash, its own parameters count.
 * @throws {TypeError} If the hash is none of scrypt's, or asks for too much.
 * @throws {AuthError} `RATE_LIMITED` if 256 are waiting, unless another network
 * has more.
 *
 * @example
 * ```ts
 * import { credentials, hashPassword, verifyPassword } from "@quartet/kit/auth";
 *
 * const users = new Map([
 *   ["ada@example.com", { id: "1", hash: await hashPassword("secret") }],
 * ]);
 * const provider = credentials({
 *   async authorize({ email, password }) {
 *     // What arrives may be of any type: a string, or nobody.
 *     const user = typeof email === "string" ? users.get(email) : undefined;
 *     const isRight = await verifyPassword(password, user?.hash);
 *     return user && isRight ? { id: user.id } : null;
 *   },
 * });
 *
 * const email = "ada@example.com";
 * console.assert(await provider.authorize({ email, password: "Secret" }) === null);
 * console.assert(
 *   (await provider.authorize({ email, password: "secret" }))?.id === "1",
 * );
 * ```
 */
export async function verifyPassword(
  password: unknown,
  hash: string | null | undefined,
  options: PasswordHashOptions = {},
): Promise<boolean> {
  const complaint = "Cannot verify password: ";
  const isKnown = hash !== null && hash !== undefined;
  const parameters = readParameters(options, complaint);
  const kept = isKnown ? parseHash(hash, complaint) : {
    parameters,
    salt: new Uint8Array(SALT_BYTES),
    hash: new Uint8Array(HASH_BYTES),
  };
  const text = normalize(password);
  const { length } = kept.hash;
  const found = await derive(text ?? "", kept.salt, kept.parameters, length);
  const isEqual = timingSafeEqual(found, kept.hash);
  return isEqual && isKnown && text !== undefined;
}

/**
 * Whether a hash was made with other parameters than passwords are hashed with
 * now. After somebody has signed in is the time to hash the password again.
 *
 * @param hash What {@linkcode hashPassword} has returned.
 * @param options The options that passwords are hashed with.
 * @throws {TypeError} If the hash is none of scrypt's, or asks for too much.
 *
 * @example
 * ```ts
 * import { hashPassword, needsRehash } from "@quartet/kit/auth";
 *
 * const hash = await hashPassword("secret", { ln: 14 });
 * console.assert(needsRehash(hash));
 * console.assert(!needsRehash(hash, { ln: 14 }));
 * ```
 */
export function needsRehash(
  hash: string,
  options: PasswordHashOptions = {},
): boolean {
  const complaint = "Cannot tell whether a password needs a new hash: ";
  const { ln, r, p } = readParameters(options, complaint);
  const { parameters, ...kept } = parseHash(hash, complaint);
  return parameters.ln !== ln || parameters.r !== r || parameters.p !== p ||
    kept.salt.length < SALT_BYTES || kept.hash.length < HASH_BYTES;
}

/** The bytes that are hashed, as text; `undefined` if it can't be a password. */
function normalize(password: unknown): string | undefined {
  if (typeof password !== "string" || password === "") return undefined;
  // Looked at before it is worked on: it may be as long as a request.
  if (password.length > MAX_BYTES) return undefined;
  const text = password.normalize("NFKC");
  return Buffer.byteLength(text) > MAX_BYTES ? undefined : text;
}

async function derive(
  text: string,
  salt: Uint8Array,
  { ln, r, p }: ScryptParameters,
  length: number,
): Promise<Uint8Array> {
  const memory = memoryOf({ ln, r, p });
  // OpenSSL needs a little more memory than scrypt itself.
  const maxmem = 2 * memory + 1024 * 1024;
  const work = () =>
    new Promise<Uint8Array>((resolve, reject) => {
      scrypt(text, salt, length, { N: 2 ** ln, r, p, maxmem }, (error, key) => {
        if (error) reject(error);
        else resolve(key);
      });
    });
  try {
    const bytes = Math.max(memory, LEAST_MEMORY);
    return await queue.run(bytes, work, callerNetwork());
  } catch (cause) {
    if (!(cause instanceof QueueFullError)) throw cause;
    throw new AuthError(
      "RATE_LIMITED",
      "Too many sign-ins at this time; try again later",
      { retryAfter: 10 },
    );
  }
}
