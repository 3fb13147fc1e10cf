/**
 * The folder `.quartet` of the dev command, with segments of runs:
 *
 * ```text
 * .quartet/.gitignore                          *
 * .quartet/1763884800000-4fe21a09-3c51d2.0000.jsonl
 *          start         app      process a segment of a run
 * ```
 *
 * Each process only appends to segments of its own, so that several processes
 * can share the folder.
 *
 * @module
 */

import { appendFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { lstat, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { byteLength, nodeCrypto } from "../../core/runtime/environment.ts";

/** The name of the folder below the working directory. */
export const FOLDER = ".quartet";

/** Maximum segments in the folder, and damaged ones. */
const MAX_SEGMENTS = 20;
const MAX_DAMAGED = 3;
/** Maximum bytes of all segments in the folder. */
const MAX_BYTES = 32 * 1024 * 1024;
/** Maximum bytes of a segment before the next one is begun. */
export const MAX_SEGMENT = 4 * 1024 * 1024;
/** Maximum characters of a line. */
export const MAX_LINE = 4 * 1024 * 1024;
/** Maximum bytes of a segment with a long last line. */
const MAX_SIZE = MAX_SEGMENT + 4 * MAX_LINE;

const SEGMENT = /^(\d{1,15})-([0-9a-f]{8})-[0-9a-f]{6}\.(\d{4,6})\.jsonl$/;
const DAMAGED = ".damaged";

/** A segment that was read. */
export interface Segment {
  readonly path: string;
  /** The start of its run, in epoch milliseconds. */
  readonly start: number;
  /** Its number among the segments of its run. */
  readonly index: number;
  readonly lines: readonly string[];
}

/** A file of the folder. */
interface StoredFile {
  readonly name: string;
  readonly size: number;
  /** The time of the last change, in epoch milliseconds. */
  readonly changed: number;
}

/** Reads and removes what earlier runs have left in a folder. */
export class RunFolder {
  /** The path of the folder. */
  readonly path: string;
  readonly #app: string;
  readonly #process = randomHex(3);
  readonly #warn: (text: string) => void;
  #hasWarned = false;

  /**
   * @param entry The file of the app. Runs of other apps are left alone.
   * @param warn Called with one line about a problem.
   */
  constructor(cwd: string, entry: string, warn: (text: string) => void) {
    this.path = `${cwd}/${FOLDER}`;
    this.#app = nodeCrypto().createHash("sha256").update(entry).digest("hex")
      .slice(0, 8);
    this.#warn = warn;
  }

  /**
   * Reads the segments of this app, the oldest first, and removes surplus ones.
   *
   * @param fresh Whether to remove all segments of this app instead.
   */
  async read(fresh: boolean): Promise<Segment[]> {
    const state = await lstat(this.path).catch(() => undefined);
    if (state === undefined) return [];
    if (!state.isDirectory()) {
      await this.setAside(this.path, "it isn't a folder");
      return [];
    }
    const files = await this.#list();
    const isOwn = ({ name }: StoredFile) =>
      SEGMENT.exec(name)?.[2] === this.#app;
    if (fresh) {
      await this.#remove(files.filter(isOwn));
      return [];
    }
    const kept = await this.#prune(files);
    const segments: Segment[] = [];
    const own = kept.filter(isOwn).sort((a, b) => a.name < b.name ? -1 : 1);
    for (const { name, size } of own) {
      const path = `${this.path}/${name}`;
      if (size > MAX_SIZE) {
        await this.setAside(path, "it is too large");
        continue;
      }
      const text = await readFile(path, "utf8").catch(() => "");
      // A crash may have cut the last line.
      const lines = text.split("\n").slice(0, -1);
      const [, start, , index] = SEGMENT.exec(name)!;
      if (lines.length === 0) continue;
      segments.push({
        path,
        start: Number(start),
        index: Number(index),
        lines,
      });
    }
    return segments;
  }

  /** Returns the path of a segment of this process. */
  pathOf(start: number, index: number): string {
    const part = `${index}`.padStart(4, "0");
    return `${this.path}/${start}-${this.#app}-${this.#process}.${part}.jsonl`;
  }

  /** Appends lines to a file, which may have been deleted in the meantime. */
  async append(path: string, header: string, text: string): Promise<number> {
    const file = await open(path, "a", 0o600).catch(async (error) => {
      if (error.code !== "ENOENT") throw error;
      this.#create();
      return await open(path, "a", 0o600);
    });
    try {
      const { size } = await file.stat();
      // Somebody may have deleted only the .gitignore.
      if (size === 0) this.#create();
      const added = size === 0 ? `${header}\n${text}` : text;
      await file.appendFile(added);
      return size + byteLength(added);
    } finally {
      await file.close();
    }
  }

  /** Appends lines while the process ends, when nothing can be awaited. */
  appendNow(path: string, header: string, text: string): void {
    this.#create();
    const added = existsSync(path) ? text : `${header}\n${text}`;
    appendFileSync(path, added, { mode: 0o600 });
  }

  /** Renames a damaged file. The first one is reported. */
  async setAside(path: string, reason: string): Promise<void> {
    const isSegment = path !== this.path;
    const aside = path + (isSegment ? DAMAGED : `${DAMAGED}-${randomHex(3)}`);
    const name = (path: string) => path.slice(path.indexOf(FOLDER));
    try {
      await rename(path, aside);
      if (!this.#hasWarned) {
        this.#warn(`Renamed ${name(path)} to ${name(aside)}: ${reason}`);
      }
      this.#hasWarned = true;
    } catch (error) {
      this.#warn(`Cannot read ${name(path)}: ${(error as Error).message}`);
    }
  }

  #create(): void {
    // An existing file is left alone, also a link to one.
    ignoreExisting(() => mkdirSync(this.path, { mode: 0o700 }));
    const path = `${this.path}/.gitignore`;
    ignoreExisting(() => writeFileSync(path, "*\n", { flag: "wx" }));
  }

  async #list(): Promise<StoredFile[]> {
    const files: StoredFile[] = [];
    for (const name of await readdir(this.path)) {
      if (!SEGMENT.test(name.replace(DAMAGED, ""))) continue;
      const state = await lstat(`${this.path}/${name}`).catch(() => undefined);
      if (!state?.isFile()) continue;
      files.push({ name, size: state.size, changed: state.mtimeMs });
    }
    // Segments of running processes are the last ones to go.
    return files.sort((a, b) => b.changed - a.changed);
  }

  /** Removes the files above the bounds. Returns the segments that stay. */
  async #prune(files: readonly StoredFile[]): Promise<StoredFile[]> {
    const { damaged = [], segments = [] } = Object.groupBy(
      files,
      ({ name }) => name.endsWith(DAMAGED) ? "damaged" : "segments",
    );
    let bytes = 0;
    // One that is too large is set aside later, and costs the others no room.
    const fits = ({ size }: StoredFile, i: number) =>
      i < MAX_SEGMENTS && (size > MAX_SIZE || (bytes += size) <= MAX_BYTES);
    const kept = new Set(segments.filter(fits));
    await this.#remove([
      ...segments.filter((file) => !kept.has(file)),
      ...damaged.slice(MAX_DAMAGED),
    ]);
    return [...kept];
  }

  async #remove(files: readonly StoredFile[]): Promise<void> {
    // Another process may have removed it.
    for (const { name } of files) {
      await rm(`${this.path}/${name}`, { force: true }).catch(() => {});
    }
  }
}

function ignoreExisting(create: () => void): void {
  try {
    create();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

function randomHex(bytes: number): string {
  return nodeCrypto().randomBytes(bytes).toString("hex");
}
