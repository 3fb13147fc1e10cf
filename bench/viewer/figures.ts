/**
 * Figures and their limits.
 *
 * @module
 */

/** A measured value. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** Maximum. If absent, the value is only printed. */
  readonly limit?: number;
}

/** Prints figures. The process fails if one exceeds its limit. */
export function printFigures(title: string, figures: readonly Figure[]): void {
  const width = Math.max(...figures.map(({ name }) => name.length));
  console.log(`\n${title}`);
  for (const { name, value, unit, limit } of figures) {
    const digits = value < 100 ? 1 : 0;
    const over = limit !== undefined && value > limit;
    if (over) Deno.exitCode = 1;
    const bound = limit === undefined
      ? ""
      : `  limit ${limit.toLocaleString("en")}${over ? "  OVER" : ""}`;
    console.log(
      `  ${name.padEnd(width)}  ${value.toFixed(digits).padStart(8)} ${
        unit.padEnd(5)
      }${bound}`,
    );
  }
}
