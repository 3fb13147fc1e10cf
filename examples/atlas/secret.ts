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
  // In one step: several processes may start at once.
  const draft = `${path}.${crypto.randomUUID()}`;
  Deno.writeTextFileSync(draft, randomSecret(), { mode: 0o600 });
  try {
    Deno.linkSync(draft, path);
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
  } finally {
    Deno.removeSync(draft);
  }
  return Deno.readTextFileSync(path);
}

/** 32 random bytes, which nobody guesses. */
export function randomSecret(): string {
  return crypto.getRandomValues(new Uint8Array(32)).toBase64();
}
