/** Splits a pattern at its top-level alternatives: `a|(?:b|c)` has 2. */
export function alternatives(source: string): string[] {
  const parts: string[] = [];
  let start = 0;
  let depth = 0;
  let inClass = false;
  for (let i = 0; i < source.length; i++) {
    const character = source[i];
    if (character === "\\") i++;
    else if (character === "[") inClass = true;
    else if (character === "]") inClass = false;
    else if (inClass) continue;
    else if (character === "(") depth++;
    else if (character === ")") depth--;
    else if (character === "|" && depth === 0) {
      parts.push(source.slice(start, i));
      start = i + 1;
    }
  }
  return [...parts, source.slice(start)];
}
