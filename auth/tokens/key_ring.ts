/**
 * The keys of a plugin's secrets. The first secret signs and seals. All of them
 * verify and open, so that rotating secrets signs nobody out.
 *
 * @module
 */

import { decodeBase64url, encodeBase64url } from "../../core/bytes/base64.ts";
import { kindOf } from "../../core/check/rules.ts";
import { isProduction, nodeCrypto } from "../../core/runtime/environment.ts";
import { concatBytes } from "../../core/bytes/bytes.ts";
import { configError } from "../error.ts";

/** Minimum bytes for HS256 (RFC 7518, section 3.2). */
const LEAST_BYTES = 32;
const HMAC = { name: "HMAC", hash: "SHA-256" } as const;
const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const encoder = new TextEncoder();

/** Signs, verifies, encrypts and decrypts. */
export type KeyRing = Readonly<ReturnType<typeof createKeyRing>>;

/**
 * Creates the keys.
 *
 * @throws {TypeError} If a secret is missing, or is short in
 * production.
 */
export function createKeyRing(secret: string | readonly string[]) {
  const secrets = readSecrets(secret);
  // Imported when first used.
  let keys: readonly CryptoKey[] | undefined;
  const importKeys = async () =>
    keys = await Promise.all(
      secrets.map((secret) =>
        crypto.subtle.importKey("raw", secret, HMAC, false, ["sign", "verify"])
      ),
    );

  return {
    /** Returns the HMAC-SHA-256 of a text by the first secret, in base64url. */
    async sign(text: string): Promise<string> {
      const [key] = keys ?? await importKeys();
      const data = encoder.encode(text);
      const signature = await crypto.subtle.sign("HMAC", key!, data);
      return encodeBase64url(new Uint8Array(signature));
    },

    /** Whether any of the secrets made the signature of a text. */
    async verify(signature: string, text: string): Promise<boolean> {
      const bytes = decodeBase64url(signature);
      if (bytes === undefined) return false;
      const data = encoder.encode(text);
      for (const key of keys ?? await importKeys()) {
        if (await crypto.subtle.verify("HMAC", key, bytes, data)) return true;
      }
      return false;
    },

    /**
     * Encrypts text, so that its holder can neither read nor change it.
     *
     * @param purpose The purpose. Text that is sealed for one purpose doesn't
     * open for another, and isn't a signed token.
     */
    seal(purpose: string, text: string): string {
      const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
      const key = sealingKey(secrets[0]!, purpose);
      const cipher = nodeCrypto().createCipheriv(CIPHER, key, nonce);
      const parts = [nonce, cipher.update(text, "utf8"), cipher.final()];
      return encodeBase64url(concatBytes([...parts, cipher.getAuthTag()]));
    },

    /** Returns the text that was sealed for this purpose, or `undefined`. */
    open(purpose: string, sealed: string): string | undefined {
      const bytes = decodeBase64url(sealed);
      if (bytes === undefined || bytes.length < NONCE_BYTES + TAG_BYTES) {
        return undefined;
      }
      for (const secret of secrets) {
        const text = decrypt(sealingKey(secret, purpose), bytes);
        if (text !== undefined) return text;
      }
      return undefined;
    },
  };
}

/** Returns a key for one purpose, which says nothing about others (RFC 5869). */
function sealingKey(secret: Uint8Array, purpose: string): Uint8Array {
  const info = `@quartet/kit auth: ${purpose}`;
  return new Uint8Array(nodeCrypto().hkdfSync("sha256", secret, "", info, 32));
}

function decrypt(key: Uint8Array, bytes: Uint8Array): string | undefined {
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const decipher = nodeCrypto().createDecipheriv(CIPHER, key, nonce);
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    const start = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
    const opened = concatBytes([start, decipher.final()]);
    return new TextDecoder().decode(opened);
  } catch {
    return undefined;
  }
}

function readSecrets(
  secret: string | readonly string[],
): Uint8Array<ArrayBuffer>[] {
  if (Array.isArray(secret) && secret.length > 0) {
    return secret.map((one, i) => readSecret(one, `session.secret[${i}]`));
  }
  return [readSecret(secret, "session.secret")];
}

/** Whether this process has warned that production refuses a secret. */
let isWarned = false;

function readSecret(secret: unknown, name: string): Uint8Array<ArrayBuffer> {
  if (typeof secret !== "string" || secret === "") {
    const received = secret === "" ? "an empty one" : kindOf(secret);
    throw configError(
      `${name} must be a non-empty string, received ${received}`,
    );
  }
  const bytes = encoder.encode(secret);
  const { length } = bytes;
  if (length >= LEAST_BYTES) return bytes;
  if (isProduction()) {
    throw configError(
      `${name} must be at least ${LEAST_BYTES} bytes long in production, received ${length}; make one with: openssl rand -base64 32`,
    );
  }
  if (!isWarned) {
    isWarned = true;
    console.warn(
      `${name} has ${length} bytes. In production it must have at least ${LEAST_BYTES}; make one with: openssl rand -base64 32`,
    );
  }
  return bytes;
}
