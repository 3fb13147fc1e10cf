const NAMES = ["DENO_DEPLOYMENT_ID", "DENO_ENV", "NODE_ENV"] as const;

/**
 * Whether this process runs in production: `DENO_ENV` or `NODE_ENV` says
 * `production`, or it runs on Deno Deploy. An environment that can't be read
 * counts as production, so that defaults are secure.
 */
export function isProduction(): boolean {
  const values = readVariables();
  if (values === undefined) return true;
  const [deployment, deno, node] = values;
  return deployment !== undefined || deno === "production" ||
    node === "production";
}

/** Returns `undefined` if reading isn't allowed. Never asks for permission. */
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
