/** How much of a file ran. */
export interface FileCoverage {
  /** As the report has it. */
  readonly path: string;
  readonly lines: Share;
  readonly branches: Share;
  /** The lines that nothing has reached, or with a branch not taken. */
  readonly missed: Set<number>;
}

/** How many there are, and how many of them ran. */
export interface Share {
  total: number;
  reached: number;
}

/**
 * Reads a report of `deno coverage --lcov`. Of its records these matter:
 * `SF:path` begins a file, `DA:line,count` tells of a line of it, and
 * `BRDA:line,block,branch,count` of a branch.
 */
export function readLcov(report: string): FileCoverage[] {
  const files: FileCoverage[] = [];
  for (const record of report.split("\n")) {
    const type = record.slice(0, record.indexOf(":"));
    const value = record.slice(type.length + 1);
    if (type === "SF") {
      files.push({
        path: value,
        lines: { total: 0, reached: 0 },
        branches: { total: 0, reached: 0 },
        missed: new Set(),
      });
    } else if (type === "DA" || type === "BRDA") {
      const file = files.at(-1)!;
      const share = type === "DA" ? file.lines : file.branches;
      const fields = value.split(",");
      share.total++;
      // What was never come to has "-" in place of a count.
      if (Number(fields[type === "DA" ? 1 : 3]) > 0) share.reached++;
      else file.missed.add(Number(fields[0]));
    }
  }
  return files;
}
