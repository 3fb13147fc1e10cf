/**
 * Type-checks generated sources with Deno's built-in compiler version.
 *
 * @module
 */

import ts from "typescript";
import { installPackages, ROOT } from "../packages.ts";
import type { Packages } from "../packages.ts";
import { generate } from "./generate.ts";

/** The compiler's result. */
export interface Outcome {
  /** The number of type instantiations: a measure of the compiler's work. */
  readonly instantiations: number;
  /** The errors as `file:line: message`. */
  readonly errors: readonly string[];
}

/** Installs the packages that the candidates' sources import. */
export function installPeers(): Promise<Packages> {
  return installPackages([
    "@elysiajs/eden",
    "@hono/zod-validator",
    "@orpc/client",
    "@orpc/server",
    "@trpc/client",
    "@trpc/server",
    "elysia",
    "hono",
    "zod",
  ]);
}

/**
 * Writes the API and the client of one candidate into a folder with packages
 * and checks them. With `probe`, it checks two wrong calls instead of the
 * client.
 */
export async function check(
  packages: Packages,
  candidate: string,
  what: "client" | "probe",
): Promise<Outcome> {
  const folder = await Deno.makeTempDir({ dir: packages.path });
  const { server, [what]: code } = generate(candidate);
  await Deno.writeTextFile(`${folder}/server.ts`, server);
  await Deno.writeTextFile(`${folder}/${what}.ts`, code);
  return compile(packages, [`${folder}/server.ts`, `${folder}/${what}.ts`]);
}

/**
 * Checks files as Deno does by default, with these sources as `@quartet/kit`.
 */
export function compile(
  packages: Packages,
  files: readonly string[],
): Outcome {
  const program = ts.createProgram([...files], {
    allowImportingTsExtensions: true,
    lib: ["lib.esnext.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts"],
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    noEmit: true,
    paths: {
      "@quartet/kit/rpc": [new URL("rpc/mod.ts", ROOT).pathname],
      "@quartet/kit/rpc/client": [new URL("rpc/client.ts", ROOT).pathname],
      // The sources are outside the folder with the packages.
      "*": [`${packages.path}/node_modules/*`],
    },
    skipLibCheck: true,
    strict: true,
    target: ts.ScriptTarget.ESNext,
    types: [],
  });
  const errors = files.flatMap((file) => {
    const source = program.getSourceFile(file)!;
    return [
      ...program.getSyntacticDiagnostics(source),
      ...program.getSemanticDiagnostics(source),
    ].map(({ start, messageText }) => {
      const { line } = source.getLineAndCharacterOfPosition(start ?? 0);
      const message = ts.flattenDiagnosticMessageText(messageText, "\n");
      return `${file.split("/").at(-1)}:${line + 1}: ${message}`;
    });
  });
  // `--extendedDiagnostics` prints this number as "Instantiations".
  const { getInstantiationCount } = program as unknown as {
    getInstantiationCount(): number;
  };
  return { instantiations: getInstantiationCount(), errors };
}
