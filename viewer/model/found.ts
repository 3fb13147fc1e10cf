import type { Finding } from "../../trace/finding.ts";

/** A finding in the list. */
export interface Found extends Required<Finding> {
  /** The key, which is unique in the list. */
  readonly key: string;
}

/** Reads the server's list of findings. Anything else is an empty list. */
export function readFound(answer: unknown): Found[] {
  const { findings } = Object(answer);
  return (Array.isArray(findings) ? findings : []).map((item: Finding) => {
    const { rule, message, traceId, spanIds: [span] } = item;
    const key = `${rule} ${traceId} ${span} ${message}`;
    return { location: "", route: "", ...item, key };
  });
}
