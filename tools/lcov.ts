/** Coverage of a file. */
export interface FileCoverage {
  /** Path as in the report. */
  readonly path: string;
  readonly lines: Share;
  readonly branches: Share;
  /** Lines that weren't reached, or have a branch that wasn't. */
  readonly missed: Set<number>;
}

/** Number of lines or branches, and of those that ran. */
export interface Share {
  total: number;
  reached: number;
}

/**
 * Parses a report of `deno coverage --lcov`. It uses these records: `SF:path`
 * starts a file, `DA:line,count` is a line, and `BRDA:line,block,branch,count` is
 * a branch.
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
      // The count of a branch that wasn't reached is "-".
      if (Number(fields[type === "DA" ? 1 : 3]) > 0) share.reached++;
      else file.missed.add(Number(fields[0]));
    }
  }
  return files;
}
