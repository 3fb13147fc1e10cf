/**
 * Whether this process serves strangers: `DENO_ENV` or `NODE_ENV` says
 * `production`, or it runs on Deno Deploy. An environment that can't be read
 * counts as production, so that what is unknown is strict.
 */
export function isProduction(): boolean {
  const read = environment();
  if (read === undefined) return true;
  return read("DENO_DEPLOYMENT_ID") !== undefined ||
    read("DENO_ENV") === "production" || read("NODE_ENV") === "production";
}

const NAMES = ["DENO_DEPLOYMENT_ID", "DENO_ENV", "NODE_ENV"];

/** Reads a variable; `undefined` if that is not allowed. Never asks for it. */
function environment(): ((name: string) => string | undefined) | undefined {
  if ("Deno" in globalThis) {
    const isGranted = NAMES.every((variable) =>
      Deno.permissions.querySync({ name: "env", variable }).state === "granted"
    );
    return isGranted ? (name) => Deno.env.get(name) : undefined;
  }
  const { process } = globalThis as {
    process?: { env?: Record<string, string | undefined> };
  };
  const env = process?.env;
  return env && ((name) => env[name]);
}
