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
 * Runs suites with Node or Bun, module by module side by side. If the runner ends
 * early, a new process runs the rest of the module's suites.
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
    let rest = group!;
    while (rest.length > 0) {
      const bundles = rest.map(({ bundle }) => bundle);
      const file = `${bundles[0]}.json`;
      const { code, stdout, stderr } = await run(
        program,
        [runner, file, ...bundles],
        {
          cwd,
          env: { NO_COLOR: "1", LEFT_OUT: JSON.stringify([...leftOut]) },
          signal: AbortSignal.timeout(TIMEOUT),
        },
      );
      const outcomes: Record<string, Outcome[]> = await Deno.readTextFile(file)
        .then(JSON.parse, () => ({}));
      const next = bundles.find((bundle) => !(bundle in outcomes));
      if (next !== undefined && (code !== 0 || next === bundles[0])) {
        outcomes[next] = [noOutcome(stdout + stderr)];
      }
      for (const { path, bundle } of rest) {
        for (const outcome of outcomes[bundle] ?? []) {
          results.push({ path, ...outcome });
        }
      }
      rest = rest.filter(({ bundle }) => !(bundle in outcomes));
    }
    return results;
  });
  return (await Promise.all(ran)).flat();
}

function noOutcome(printed: string): Outcome {
  const reason = `The process ended before the file had run:\n${
    printed.slice(-4_000)
  }`;
  return { name: "The file as a whole", state: "failed", reason };
}
