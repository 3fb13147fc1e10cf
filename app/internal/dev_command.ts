/**
 * Whether the dev command runs this process. The command and the app that it
 * loads may come from different copies of the package, so the note is global.
 *
 * @module
 */

const KEY = Symbol.for("@quartet/kit/dev");
const notes = globalThis as { [KEY]?: boolean };

/** Notes that the dev command runs this process. */
export function noteDevCommand(): void {
  notes[KEY] = true;
}

/** Whether the dev command runs this process. */
export function isDevCommand(): boolean {
  return notes[KEY] === true;
}
