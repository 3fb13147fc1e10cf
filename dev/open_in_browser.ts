/** The program of each system that opens a URL. */
const OPENERS: Readonly<Partial<Record<typeof Deno.build.os, string[]>>> = {
  darwin: ["open"],
  windows: ["cmd", "/c", "start", ""],
};

/** Opens a URL in the system's browser, or prints why it can't. */
export async function openInBrowser(url: string): Promise<void> {
  const [program, ...args] = OPENERS[Deno.build.os] ?? ["xdg-open"];
  try {
    const { success } = await new Deno.Command(program!, {
      args: [...args, url],
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).output();
    if (!success) throw new Error(`${program} failed`);
  } catch (error) {
    console.error(`Cannot open a browser: ${(error as Error).message}`);
  }
}
