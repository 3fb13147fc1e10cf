/**
 * Passwords, kept as scrypt hashes.
 *
 * @module
 */

import { kindOf } from "../../core/check/rules.ts";
import { observe } from "../../core/observe.ts";
import { nodeCrypto } from "../../core/runtime/environment.ts";
import { AuthError } from "../error.ts";
import { callerNetwork } from "../sign_in/client_network.ts";
import {
  formatHash,
  HASH_BYTES,
  MAX_MEMORY,
  memoryOf,
  parseHash,
  type PasswordHashOptions,
  readParameters,
  SALT_BYTES,
  type ScryptParameters,
} from "./password_hash.ts";
import {
  createWeightedSemaphore,
  QueueFullError,
} from "./weighted_semaphore.ts";

/** Maximum length of a password, in bytes of UTF-8. */
const MAX_BYTES = 1024;
/** The weight of cheap hashes, so that at most 16 run at once. */
const LEAST_MEMORY = MAX_MEMORY / 16;
/** Any more would wait longer than clients do. */
const MAX_WAITING = 256;

const runInTurn = createWeightedSemaphore(MAX_MEMORY, MAX_WAITING);

/**
 * Hashes a password with scrypt and a random salt. The default parameters are
 * those that OWASP recommends (Password Storage Cheat Sheet): 128 MiB and about
 * a third of a second.
 *
 * Other threads do the work, as much at once as fits in 512 MiB. The rest waits.
 * Client networks take turns, so a flood from some of them doesn't delay others.
 *
 * @param password The password, of 1 to 1,024 bytes. Spellings that look the
 * same are equal (Unicode's NFKC, as in NIST SP 800-63B).
 * @param options The cost of the hash. Lower costs than the default are for tests.
 * @returns A text to store, such as `$scrypt$ln=17,r=8,p=1$…$…`.
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
    const received = typeof password !== "string"
      ? kindOf(password)
      : password === ""
      ? "an empty one"
      : "a longer one";
    throw new TypeError(
      `Cannot hash password: it must be a string of 1 to ${MAX_BYTES} bytes, received ${received}`,
    );
  }
  const salt = crypto.getRandomValues(new Uint8Array(SALT_BYTES));
  const hash = await observe(
    "auth:hashPassword",
    "auth",
    () => derive(text, salt, parameters, HASH_BYTES),
  );
  return formatHash({ parameters, salt, hash });
}

/**
 * Whether a password matches a hash.
 *
 * For unknown users, pass `null` as the hash. The check takes as long as a wrong
 * password, so that its time doesn't reveal who has an account. Passwords that
 * can't be right, such as numbers, take as long too.
 *
 * @param password The password as the client sent it.
 * @param hash The result of {@linkcode hashPassword}, or `null` for unknown users.
 * @param options The options that passwords are hashed with, so that unknown
 * users cost the same. With a hash, its own parameters count.
 * @throws {TypeError} If the hash isn't a scrypt hash, or costs too much.
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
 *     // Clients may send values of any type.
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
  const found = await observe(
    "auth:verifyPassword",
    "auth",
    () => derive(text ?? "", kept.salt, kept.parameters, length),
  );
  const isEqual = nodeCrypto().timingSafeEqual(found, kept.hash);
  return isEqual && isKnown && text !== undefined;
}

/**
 * Whether a hash has other parameters than the given options. If so, hash the
 * password again after a successful sign-in.
 *
 * @param hash The result of {@linkcode hashPassword}.
 * @param options The options that passwords are hashed with.
 * @throws {TypeError} If the hash isn't a scrypt hash, or costs too much.
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
  const complaint = "Cannot check whether a password needs a new hash: ";
  const { ln, r, p } = readParameters(options, complaint);
  const { parameters, ...kept } = parseHash(hash, complaint);
  return parameters.ln !== ln || parameters.r !== r || parameters.p !== p ||
    kept.salt.length < SALT_BYTES || kept.hash.length < HASH_BYTES;
}

/** Returns the text to hash, or `undefined` if it can't be a password. */
function normalize(password: unknown): string | undefined {
  if (typeof password !== "string" || password === "") return undefined;
  // Checked first, because it may be as long as a request.
  if (password.length > MAX_BYTES) return undefined;
  const text = password.normalize("NFKC");
  const { length } = new TextEncoder().encode(text);
  return length > MAX_BYTES ? undefined : text;
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
      const settings = { N: 2 ** ln, r, p, maxmem };
      nodeCrypto().scrypt(text, salt, length, settings, (error, key) => {
        if (error) reject(error);
        else resolve(key);
      });
    });
  try {
    const weight = Math.max(memory, LEAST_MEMORY);
    return await runInTurn(weight, work, callerNetwork());
  } catch (cause) {
    if (!(cause instanceof QueueFullError)) throw cause;
    throw new AuthError(
      "RATE_LIMITED",
      "Too many sign-ins at this time; try again later",
      { retryAfter: 10 },
    );
  }
}
