/**
 * Runs the benchmarks, each in its own process. Without arguments it runs all.
 * An argument such as `trace` or `trace/spans` selects benchmarks by the start
 * of their path. Arguments after `--` go to the benchmarks.
 *
 * @module
 */

import { hasWrk } from "./wrk.ts";

const BENCHES = [
  "app/http",
  "app/imports",
  "auth/sessions",
  "data/hits",
  "data/invalidate",
  "data/million",
  "data/processes",
  "data/soak",
  "trace/spans",
  "trace/http",
  "trace/companion",
  "viewer/size",
  "viewer/speed",
  "rpc/http",
  "rpc/subscriptions",
  "rpc/broadcast",
  "rpc/size",
  "types/instantiations",
];

/** Benchmarks that run only if they are named: they need Redis and a long time. */
const NAMED = ["data/million"];
/** Benchmarks that need `wrk`. */
const NEED_WRK = ["app/http", "trace/http", "trace/companion", "rpc/http"];

const end = Deno.args.indexOf("--");
const prefixes = end === -1 ? Deno.args : Deno.args.slice(0, end);
const rest = end === -1 ? [] : Deno.args.slice(end + 1);
const wanted = BENCHES.filter((name) => {
  if (NAMED.includes(name)) return prefixes.includes(name);
  return prefixes.length === 0 ||
    prefixes.some((prefix) => name.startsWith(prefix));
});
if (wanted.length === 0) {
  console.error(
    `error: no benchmark begins with ${prefixes.join(" or ")}; choose from ${
      BENCHES.join(", ")
    }`,
  );
  Deno.exit(2);
}
const needWrk = wanted.filter((name) => NEED_WRK.includes(name));
if (needWrk.length > 0 && !await hasWrk()) {
  const rest = BENCHES.filter((name) => !NEED_WRK.includes(name));
  console.error(
    `error: Cannot run ${
      needWrk.join(", ")
    }: they need the load generator wrk on the PATH. Install it, for example with apt-get or brew, or name other benchmarks: ${
      rest.join(" ")
    }`,
  );
  Deno.exit(2);
}
for (const name of wanted) {
  const { success } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--lock=deno.lock",
      "--v8-flags=--expose-gc",
      new URL(`${name}.ts`, import.meta.url).href,
      ...rest,
    ],
    stdout: "inherit",
    stderr: "inherit",
  }).spawn().status;
  if (!success) Deno.exit(1);
}
