// The secret that signs sessions.

/**
 * Reads the secret from a file. Creates the file if it doesn't exist. Only its
 * owner can read it.
 */
export function keptSecret(path: string): string {
  try {
    return Deno.readTextFileSync(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  // Linking is atomic: several processes may start at the same time.
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

/** Returns 32 random bytes in base64. */
export function randomSecret(): string {
  return crypto.getRandomValues(new Uint8Array(32)).toBase64();
}
