import { run } from "./command.ts";
import type { Outcome } from "./runner/tests.ts";
import type { Suites } from "./suites.ts";

export interface Result extends Outcome {
  /** File of the test. */
  readonly path: string;
}

/** Milliseconds after which a module's tests count as hanging. */
const TIMEOUT = 900_000;

/**
 * Runs suites with Node or Bun, with one process per module, side by side.
 *
 * @param leftOut Names of tests to skip, with the reason.
 */
export async function runSuites(
  program: string,
  { runner, suites }: Suites,
  leftOut: ReadonlyMap<string, string>,
  cwd: string,
): Promise<Result[]> {
  const groups = Object.groupBy(suites, ({ path }) => path.split("/")[1]!);
  const ran = Object.values(groups).map(async (group) => {
    const results: Result[] = [];
    const file = `${group![0]!.bundle}.json`;
    const bundles = group!.map(({ bundle }) => bundle);
    const { stdout, stderr } = await run(program, [runner, file, ...bundles], {
      cwd,
      env: { NO_COLOR: "1", LEFT_OUT: JSON.stringify([...leftOut]) },
      signal: AbortSignal.timeout(TIMEOUT),
    });
    const outcomes: Record<string, Outcome[]> = await Deno.readTextFile(file)
      .then(JSON.parse, () => ({}));
    for (const { path, bundle } of group!) {
      for (const outcome of outcomes[bundle] ?? [noOutcome(stdout + stderr)]) {
        results.push({ path, ...outcome });
      }
    }
    return results;
  });
  return (await Promise.all(ran)).flat();
}

function noOutcome(printed: string): Outcome {
  const reason = `The process ended before the file was run:\n${
    printed.slice(-4_000)
  }`;
  return { name: "The file as a whole", state: "failed", reason };
}
