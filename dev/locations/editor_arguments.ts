/**
 * The command lines of editors.
 *
 * @module
 */

/** Programs, and their arguments for a file and a line. */
const EDITORS: readonly (readonly [
  programs: RegExp,
  arguments_: (path: string, line: number) => string[],
])[] = [
  [
    /^(?:antigravity|code|code-insiders|code-oss|codium|cursor|kiro|positron|trae|vscodium|windsurf)$/,
    (path, line) => ["-g", `${path}:${line}`],
  ],
  [
    /^(?:geany|subl|sublime_text|zed|zeditor)$/,
    (path, line) => [`${path}:${line}`],
  ],
  [
    /^(?:clion|goland|idea|phpstorm|pycharm|rider|rubymine|rustrover|webstorm)(?:64)?$/,
    (path, line) => ["--line", `${line}`, path],
  ],
  [
    /^(?:bbedit|emacs|emacsclient|gedit|gnome-text-editor|gvim|mvim|xed)$/,
    (path, line) => [`+${line}`, path],
  ],
  [/^(?:kate|kwrite|mate)$/, (path, line) => ["-l", `${line}`, path]],
  [/^notepad\+\+$/, (path, line) => [`-n${line}`, path]],
];

/** Editors without a window. The server prints in their terminal. */
const IN_TERMINAL = /^(?:ed|helix|hx|joe|kak|micro|nano|ne|nvim|pico|vi|vim)$/;

/** The editors to try if no variable names one, the most common first. */
export const COMMON_EDITORS: readonly string[] = [
  "code",
  "cursor",
  "zed",
  "webstorm",
  "idea",
  "subl",
];

/** Whether an editor needs a terminal. */
export function needsTerminal(program: string): boolean {
  return IN_TERMINAL.test(nameOf(program));
}

/** Returns the arguments that open a file at a line, or only the file. */
export function argumentsFor(
  program: string,
  path: string,
  line: number,
): string[] {
  const name = nameOf(program);
  const known = EDITORS.find(([programs]) => programs.test(name));
  return known === undefined ? [path] : known[1](path, line);
}

/** Returns the name of a program, without its folder and `.exe`. */
function nameOf(program: string): string {
  const [name] = program.split(/[\\/]/).slice(-1);
  return name!.toLowerCase().replace(/\.(?:cmd|exe)$/, "");
}

/** Splits a command such as `"/opt/my editor" --wait` into its words. */
export function splitCommand(command: string): string[] {
  return Array.from(
    command.matchAll(/"([^"]*)"|'([^']*)'|([^\s"']+)/g),
    ([, double, single, plain]) => double ?? single ?? plain!,
  );
}
