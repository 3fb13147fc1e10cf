/**
 * Quotes arguments so that POSIX shells, PowerShell and cmd.exe read them alike.
 * Within double quotes, all of them keep most ASCII characters. No quoting suits
 * all shells for the others: a URL escapes them, and other arguments must not
 * contain them.
 *
 * @module
 */

/** Characters that are special within double quotes in at least one shell. */
const SPECIAL = /[^ -~]|["$`\\!%]/;
/** Characters that a URL must escape. */
const KEPT = /[^\w\-.~:/?&=@,;+()*%[\]{}]/g;

/** curl accepts 100 patterns at most, and the text between them counts too. */
const MAX_SETS = 49;

/** Quotes a text, or returns `undefined` if no quoting suits all shells. */
export function quote(text: string): string | undefined {
  return SPECIAL.test(text) ? undefined : `"${text}"`;
}

/** Returns curl's arguments for a URL. */
export function urlArguments(href: string): string | undefined {
  const text = href.replace(/%(?![\da-f]{2})/gi, "%25").replace(KEPT, escape);
  if (text.indexOf("%") === text.lastIndexOf("%")) {
    // Without `--globoff`, curl reads braces and brackets as patterns.
    return `--globoff --url "${text}"`;
  }
  const start = text.indexOf("/", text.indexOf("//") + 2);
  const rest = text.slice(start).replace(/[[\]{}]/g, escape);
  const parts = (text.slice(0, start) + rest).split("%");
  const url = withSets(parts, () => true) ??
    // No Windows variable begins with a digit.
    withSets(parts, (part) => /^[a-f]/i.test(part));
  return url && `--url "${url}"`;
}

function escape(character: string): string {
  const code = character.charCodeAt(0).toString(16).toUpperCase();
  return `%${code.padStart(2, "0")}`;
}

/**
 * Hides percent signs from cmd.exe.
 *
 * cmd.exe replaces `%NAME%` with a variable's value, also within quotes, and
 * `%CD%20` is a valid part of a URL. So curl gets the pattern `%{CD%}20`, which
 * it reads as `%CD%20`. No variable is called `{CD`.
 *
 * @param parts The URL without its percent signs.
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
      // Within a pattern, a comma separates two URLs.
      url += `%{${part.slice(0, 2)}}${part.slice(2)}`;
    } else {
      url += `%{${part}%}${next}`;
      i++;
    }
  }
  return url;
}
