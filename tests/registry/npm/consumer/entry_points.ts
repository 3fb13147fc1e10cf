/**
 * Imports each entry point named on the command line. Prints the names of its
 * exports, or the error.
 *
 * @module
 */

import process from "node:process";

const found: Record<string, string[] | string> = {};
for (const name of process.argv.slice(2)) {
  try {
    found[name] = Object.keys(await import(name)).sort();
  } catch (error) {
    found[name] = (error as Error).message;
  }
}
console.log(JSON.stringify(found));
