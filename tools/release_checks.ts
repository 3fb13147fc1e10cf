/**
 * Checks before a version is published. Each returns what is wrong, or
 * `undefined`.
 *
 * @module
 */

import type { ProjectConfig } from "./publish_config.ts";

/** A heading of the changelog, with its version and its date. */
const HEADING = /^## (\S+), (unreleased|\d{4}-\d{2}-\d{2})$/m;

/**
 * Checks that the changelog's first heading names the version.
 *
 * @param project The version to publish.
 * @param root Folder of the changelog.
 * @param isRelease Whether the heading needs a date.
 */
export async function checkChangelog(
  { version }: ProjectConfig,
  root: URL,
  isRelease: boolean,
): Promise<string | undefined> {
  const text = await Deno.readTextFile(new URL("CHANGELOG.md", root));
  const [heading, newest, date] = HEADING.exec(text) ?? [];
  const isRight = newest === version && !(isRelease && date === "unreleased");
  if (isRight) return undefined;
  const expected = isRelease ? "YYYY-MM-DD" : "unreleased";
  return `the newest heading of CHANGELOG.md must be "## ${version}, ${expected}", received ${
    heading === undefined ? "none" : JSON.stringify(heading)
  }`;
}

/**
 * The registry doesn't have the version yet. Of one that it has,
 * `deno publish` says no more than that it skips it.
 */
export async function checkVersionIsNew(
  { name, version }: ProjectConfig,
): Promise<string | undefined> {
  const registry = Deno.env.get("JSR_URL") ?? "https://jsr.io";
  const url = new URL(`/${name}/meta.json`, registry);
  let response: Response;
  try {
    response = await fetch(url);
  } catch (error) {
    return `${registry} can't be reached: ${(error as Error).message}`;
  }
  if (!response.ok) {
    await response.body?.cancel();
    // A package that nothing was published of has no such file.
    if (response.status === 404) return undefined;
    return `${url.href} must answer with 200 or 404, received ${response.status}`;
  }
  const { versions } = await response.json();
  return version in versions
    ? `${registry} has this version already; deno.json must name a new one`
    : undefined;
}
