/**
 * Parses a command line as PowerShell and cmd.exe do, for commands without
 * variables of their own. The tests' machine runs neither, so this code follows
 * their documentation:
 *
 * - PowerShell: about_Quoting_Rules, about_Special_Characters, about_Operators
 * - cmd.exe: "Windows command-line expansion" (percent signs first, also inside
 *   quotes; an unknown name stays as it is), then quotes and operators
 * - the C runtime: "Parsing C command-line arguments", without backslashes
 *
 * @module
 */

/** PowerShell's quotation marks, including the typographic ones. */
const QUOTES = '"\u201c\u201d\u201e';

/**
 * Returns PowerShell's arguments of a line. Throws if the line does anything
 * else.
 */
export function powerShellArguments(line: string): string[] {
  const found: string[] = [];
  let word: string | undefined;
  let isQuoted = false;
  for (const char of line) {
    if (QUOTES.includes(char)) {
      isQuoted = !isQuoted;
      word ??= "";
    } else if (isQuoted) {
      if ("$`".includes(char)) throw new Error(`PowerShell expands ${char}`);
      word += char;
    } else if (char === " ") {
      if (word !== undefined) found.push(word);
      word = undefined;
    } else if (/[\w-]/.test(char)) {
      word = (word ?? "") + char;
    } else throw new Error(`PowerShell interprets ${char}`);
  }
  if (isQuoted) throw new Error("PowerShell waits for the end of a string");
  return word === undefined ? found : [...found, word];
}

/** Returns the arguments of a line in cmd.exe and the C runtime. */
export function cmdArguments(
  line: string,
  isVariable: (name: string) => boolean,
): string[] {
  for (let at = line.indexOf("%"); at !== -1; at = line.indexOf("%", at + 1)) {
    const end = line.indexOf("%", at + 1);
    if (end === -1) break;
    const [name] = line.slice(at + 1, end).split(":");
    if (isVariable(name!)) throw new Error(`cmd.exe expands %${name}%`);
  }
  const found: string[] = [];
  let word: string | undefined;
  let isQuoted = false;
  for (const char of line) {
    if (/[\r\n\0]/.test(char)) throw new Error("cmd.exe ends the line");
    if (char === "!") throw new Error("cmd.exe may expand !");
    if (char === '"') {
      isQuoted = !isQuoted;
      word ??= "";
    } else if (char === "\\") {
      throw new Error("The C runtime interprets \\");
    } else if (isQuoted) word += char;
    else if (char === " ") {
      if (word !== undefined) found.push(word);
      word = undefined;
    } else if (/[\w-]/.test(char)) word = (word ?? "") + char;
    else throw new Error(`cmd.exe interprets ${char}`);
  }
  if (isQuoted) throw new Error("cmd.exe drops an unclosed quote");
  return word === undefined ? found : [...found, word];
}
