/**
 * Opens files in the user's editor, without a shell: the name of a file never
 * becomes a command.
 *
 * @module
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { settlesWithin } from "../../core/promises.ts";
import { standardOutput } from "../../trace/report/terminal.ts";

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
const COMMON_EDITORS = "code cursor zed webstorm idea subl".split(" ");

/** An editor that still runs after this many milliseconds has opened the file. */
const START_TIME = 1_500;

/** The reason that no editor opens a file. */
export class EditorError extends Error {}

/** A program that doesn't exist. */
class MissingEditor extends EditorError {}

/**
 * Opens a file at a line. The editor is the one that `LAUNCH_EDITOR` names. Else it
 * is the one whose terminal runs the command, the one of `VISUAL` or `EDITOR`, or a
 * common one that is installed.
 *
 * @param path An absolute path.
 * @throws {EditorError} If no editor opens it.
 */
export async function openInEditor(path: string, line: number): Promise<void> {
  const chosen = chosenEditor();
  if (chosen !== undefined) return await launch(chosen, path, line);
  for (const program of [...terminalEditor(), ...COMMON_EDITORS]) {
    try {
      return await launch([program], path, line);
    } catch (error) {
      if (!(error instanceof MissingEditor)) throw error;
    }
  }
  throw new EditorError(
    "Cannot find an editor: LAUNCH_EDITOR must name one, as in LAUNCH_EDITOR=code",
  );
}

const { env } = standardOutput();

/** Returns the command of the editor that the user has chosen. */
function chosenEditor(): string[] | undefined {
  const wanted = splitCommand(env("LAUNCH_EDITOR") ?? "");
  if (wanted.length > 0) return wanted;
  // The others are often set to an editor that needs the terminal.
  return terminalEditor().length > 0
    ? undefined
    : [env("VISUAL"), env("EDITOR")]
      .map((command) => splitCommand(command ?? ""))
      .find(([program]) => program !== undefined && !needsTerminal(program));
}

/** Returns the editor whose terminal runs this process. */
function terminalEditor(): string[] {
  if (env("ZED_TERM") !== undefined) return ["zed", "zeditor"];
  if (env("TERM_PROGRAM") !== "vscode") return [];
  return env("CURSOR_TRACE_ID") === undefined ? ["code"] : ["cursor"];
}

async function launch(
  [program, ...options]: readonly string[],
  path: string,
  line: number,
): Promise<void> {
  if (needsTerminal(program!)) {
    throw new EditorError(
      `Cannot start ${program}: LAUNCH_EDITOR must name an editor with a window of its own, as in LAUNCH_EDITOR=code`,
    );
  }
  const args = [...options, ...argumentsFor(program!, path, line)];
  const code = await run(program!, args);
  if (code === 0) return;
  const message = `Cannot open the file with ${program}`;
  throw new EditorError(`${message}: it exited with ${code}`);
}

/** Starts a program. Returns its exit code, or 0 while it runs. */
async function run(program: string, args: readonly string[]): Promise<unknown> {
  try {
    // With a group of its own, Ctrl-C in the terminal doesn't end it.
    const child = spawn(program, args, { stdio: "ignore", detached: true });
    child.on("spawn", () => child.unref());
    const exit = once(child, "exit");
    if (!await settlesWithin(exit, START_TIME)) return 0;
    const [code] = await exit;
    return code;
  } catch (error) {
    const { code, message } = error as Error & { readonly code?: string };
    if (code === "ENOENT") {
      throw new MissingEditor(`Cannot start ${program}: it isn't on the PATH`);
    }
    // Without a code, it is the permission that Deno lacks.
    const reason = code ?? message.split("\n", 1).join();
    throw new EditorError(`Cannot start ${program}: ${reason}`);
  }
}

/** Whether an editor needs a terminal. */
function needsTerminal(program: string): boolean {
  return IN_TERMINAL.test(nameOf(program));
}

/** Returns the arguments that open a file at a line, or only the file. */
function argumentsFor(
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
function splitCommand(command: string): string[] {
  return Array.from(
    command.matchAll(/"([^"]*)"|'([^']*)'|([^\s"']+)/g),
    ([, double, single, plain]) => double ?? single ?? plain!,
  );
}
