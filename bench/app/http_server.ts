/**
 * Serves one candidate of one case, for `http.ts`. The arguments name both.
 *
 * @module
 */

import { CASES } from "./cases.ts";

const [caseName, name] = Deno.args;
const { candidates } = await CASES[caseName!]!();
const candidate = candidates[name!]!();
const options = {
  port: 0,
  hostname: "127.0.0.1",
  onListen: ({ port }: { port: number }) => console.log(port),
};
if (candidate.serve === undefined) Deno.serve(options, candidate.fetch);
else await candidate.serve(options);
