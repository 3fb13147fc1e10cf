/**
 * Remembers whether the dev command runs this process. The flag is global, because
 * the command and the app may load different copies of the package.
 *
 * @module
 */

const KEY = Symbol.for("@quartet/kit/dev");
const notes = globalThis as { [KEY]?: boolean };

/** Marks this process as run by the dev command. */
export function noteDevCommand(): void {
  notes[KEY] = true;
}

/** Whether the dev command runs this process. */
export function isDevCommand(): boolean {
  return notes[KEY] === true;
}
