/** Opens a URL with the program that the system has for it, or says why not. */
export async function openInBrowser(url: string): Promise<void> {
  const [program, ...args] = openerOf(Deno.build.os);
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

function openerOf(os: typeof Deno.build.os): readonly string[] {
  switch (os) {
    case "darwin":
      return ["open"];
    case "windows":
      return ["cmd", "/c", "start", ""];
    default:
      return ["xdg-open"];
  }
}
