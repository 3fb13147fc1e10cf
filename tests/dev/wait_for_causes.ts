import type { Tracer } from "@quartet/kit/trace";
import type { Findings } from "../../dev/findings/findings.ts";
import type { Finding } from "../../trace/finding.ts";

const LAST = "the last job of the test";

/** Waits until all traces have been looked at, and returns the findings. */
export async function waitForCauses(
  tracer: Tracer,
  findings: Findings,
): Promise<Finding[]> {
  try {
    tracer.withSpan(LAST, "custom", () => {
      throw new Error(LAST);
    });
  } catch {
    // The findings contain it.
  }
  const isLast = ({ route }: Finding) => route === LAST;
  while (!findings.list().some(isLast)) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return findings.list().filter((finding) => !isLast(finding));
}
