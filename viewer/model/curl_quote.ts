/**
 * Arguments that POSIX shells, PowerShell and cmd.exe all read alike. Within
 * double quotes each of them leaves most of ASCII as it is. The others can't be
 * quoted so that all agree: an address gets escapes for them, and other
 * arguments must not have them.
 *
 * @module
 */

/** Characters that are special within double quotes to one of them, or more. */
const SPECIAL = /[^ -~]|["$`\\!%]/;
/** Characters that an address keeps; the others get an escape. */
const KEPT = /[^\w\-.~:/?&=@,;+()*%[\]{}]/g;

/** curl takes 100 patterns at most, and the text around them counts as well. */
const MAX_SETS = 49;

/** Quotes a text; `undefined` if there is no way that suits all shells. */
export function quote(text: string): string | undefined {
  return SPECIAL.test(text) ? undefined : `"${text}"`;
}

/** An address for curl, as its arguments. */
export function urlArguments(href: string): string | undefined {
  const text = href.replace(/%(?![\da-f]{2})/gi, "%25").replace(KEPT, escape);
  if (text.indexOf("%") === text.lastIndexOf("%")) {
    // Without it, curl takes braces and brackets for patterns.
    return `--globoff --url "${text}"`;
  }
  const start = text.indexOf("/", text.indexOf("//") + 2);
  const rest = text.slice(start).replace(/[[\]{}]/g, escape);
  const parts = (text.slice(0, start) + rest).split("%");
  const url = withSets(parts, () => true) ??
    // No variable of Windows begins with a digit.
    withSets(parts, (part) => /^[a-f]/i.test(part));
  return url && `--url "${url}"`;
}

function escape(character: string): string {
  const code = character.charCodeAt(0).toString(16).toUpperCase();
  return `%${code.padStart(2, "0")}`;
}

/**
 * cmd.exe puts a variable's value in place of `%NAME%`, also within quotes, and
 * `%CD%20` is a fine address. So curl gets `%{CD%}20`, which it reads as a
 * pattern that stands for `%CD%20`, and no variable is called `{CD`.
 *
 * @param parts The address without its percent signs.
 * @param isName Whether a part may be the name of a variable.
 */
function withSets(
  parts: readonly string[],
  isName: (part: string) => boolean,
): string | undefined {
  let url = parts[0]!;
  let sets = 0;
  for (let i = 1; i < parts.length; i++) {
    const part = parts[i]!;
    const next = parts[i + 1];
    if (next === undefined || !isName(part)) {
      url += `%${part}`;
    } else if (++sets > MAX_SETS) {
      return undefined;
    } else if (part.includes(",")) {
      // In a pattern it would stand between two addresses.
      url += `%{${part.slice(0, 2)}}${part.slice(2)}`;
    } else {
      url += `%{${part}%}${next}`;
      i++;
    }
  }
  return url;
}
