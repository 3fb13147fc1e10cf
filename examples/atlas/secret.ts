// The secret that signs the sessions.

/**
 * Reads the secret that a file keeps. The first time it makes one, which nobody
 * but the file's owner can read.
 */
export function keptSecret(path: string): string {
  try {
    return Deno.readTextFileSync(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  const secret = randomSecret();
  Deno.writeTextFileSync(path, secret, { createNew: true, mode: 0o600 });
  return secret;
}

/** 32 random bytes, which nobody guesses. */
export function randomSecret(): string {
  return crypto.getRandomValues(new Uint8Array(32)).toBase64();
}
