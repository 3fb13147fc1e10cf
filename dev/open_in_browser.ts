import { execFile } from "node:child_process";
import process from "node:process";
import { promisify } from "node:util";

/** The program that opens a URL, by platform. */
const OPENERS: Readonly<Record<string, readonly string[]>> = {
  darwin: ["open"],
  win32: ["cmd", "/c", "start", ""],
};

/** Opens a URL in the system's browser, or prints why it can't. */
export async function openInBrowser(url: string): Promise<void> {
  const [program, ...args] = OPENERS[process.platform] ?? ["xdg-open"];
  try {
    await promisify(execFile)(program!, [...args, url]);
  } catch (error) {
    const [reason] = (error as Error).message.split("\n");
    console.error(`Cannot open a browser: ${reason}`);
  }
}
