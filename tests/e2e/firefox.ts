/**
 * Debian's Firefox for tests. Without it, they are ignored.
 *
 * @module
 */

const FIREFOX = "firefox-esr";

/** Whether Firefox is installed. */
export const hasFirefox = (Deno.env.get("PATH") ?? "").split(":").some(
  (folder) => {
    try {
      return Deno.statSync(`${folder}/${FIREFOX}`).isFile;
    } catch {
      return false;
    }
  },
);

/** Opens a page in a Firefox of its own. Disposing it closes Firefox. */
export async function openFirefox(url: string): Promise<AsyncDisposable> {
  const profile = await Deno.makeTempDir();
  const firefox = new Deno.Command(FIREFOX, {
    args: ["--headless", "--no-remote", "--profile", profile, url],
    stdout: "null",
    stderr: "null",
  }).spawn();
  return {
    async [Symbol.asyncDispose]() {
      firefox.kill();
      await firefox.status;
      await Deno.remove(profile, { recursive: true });
    },
  };
}
