/**
 * Whether this process runs in production, or under the dev command.
 *
 * @module
 */

const NAMES = ["DENO_DEPLOYMENT_ID", "DENO_ENV", "NODE_ENV"] as const;

/**
 * Whether this process runs in production: `DENO_ENV` or `NODE_ENV` is
 * `production`, or it runs on Deno Deploy. If the environment can't be read, it
 * counts as production, so that defaults are secure.
 */
export function isProduction(): boolean {
  const values = readVariables();
  if (values === undefined) return true;
  const [deployment, deno, node] = values;
  return deployment !== undefined || deno === "production" ||
    node === "production";
}

/** Returns a variable, or `undefined` without permission. Never prompts. */
function readVariables(): (string | undefined)[] | undefined {
  if ("Deno" in globalThis) {
    const isGranted = NAMES.every((variable) =>
      Deno.permissions.querySync({ name: "env", variable }).state === "granted"
    );
    return isGranted ? NAMES.map((name) => Deno.env.get(name)) : undefined;
  }
  const { process } = globalThis as {
    process?: { env?: Record<string, string | undefined> };
  };
  const env = process?.env;
  return env && NAMES.map((name) => env[name]);
}

/** Global, because the command and the app may load copies of the package. */
const KEY = Symbol.for("@quartet/kit/dev");
const notes = globalThis as { [KEY]?: boolean };

/** Marks this process as run by the dev command. */
export function noteDevCommand(): void {
  notes[KEY] = true;
}

/** Whether the dev command runs this process. */
export function isDevCommand(): boolean {
  return notes[KEY] === true;
}
