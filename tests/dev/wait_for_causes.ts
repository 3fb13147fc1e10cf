import type { Tracer } from "@quartet/kit/trace";
import type { Findings } from "../../dev/findings/findings.ts";
import type { Finding } from "../../trace/finding.ts";

/** The name of the jobs that fail after all others. */
export const LAST = "last job ";

let count = 0;

/** Waits until all traces have been looked at, and returns the findings. */
export async function waitForCauses(
  tracer: Tracer,
  findings: Findings,
): Promise<Finding[]> {
  const name = LAST + ++count;
  const job = tracer.startTrace(name, "custom");
  job.error(new Error(name));
  job.end();
  while (!findings.list().some(({ route }) => route === name)) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return findings.list().filter(({ route }) => !route?.startsWith(LAST));
}
