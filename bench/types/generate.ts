/**
 * Writes the same API for each of the compared libraries: 30 routers of 10
 * procedures, a client that calls 100 of them, and a probe with two wrong
 * calls.
 *
 * @module
 */

const ROUTERS = 30;
const PROCEDURES = 10;
/** The client calls one in this many procedures. */
const CALL_EVERY = 3;

/** The files of one candidate. */
export interface Sources {
  /** The API. */
  readonly server: string;
  /** 100 correct calls. */
  readonly client: string;
  /** Two wrong calls: an input of a wrong type, and a missing procedure. */
  readonly probe: string;
}

/** A library's way to write routers, procedures and calls. */
interface Dialect {
  readonly imports: string;
  /** The API, given the source of its routers. */
  readonly api: (routers: readonly string[]) => string;
  readonly router: (name: string, procedures: readonly string[]) => string;
  readonly procedure: (name: string, schema: string, index: number) => string;
  readonly client: string;
  readonly call: (router: string, name: string, index: number) => string;
  /** The expression for a call's output, given its result. */
  readonly output?: (result: string) => string;
}

const isQuery = (index: number) => index % 2 === 0;
const OUTPUT =
  `({ id: input.id, name: "Ada", count: 1, tags: ["a", "b"], at: { line: 1 } })`;
const object = (name: string, parts: readonly string[]) =>
  `${name}: {\n${parts.join(",\n")},\n}`;

/** The libraries, and zod alone. */
export const DIALECTS: Readonly<Record<string, Dialect>> = {
  "zod alone": {
    imports: "",
    api: (routers) => `export const api = { ${routers.join(",\n")} };`,
    router: object,
    procedure: (name, schema) =>
      `${name}: { input: ${schema}, output: { id: "", name: "", count: 1 } }`,
    client: `import type { api } from "./server.ts";
declare const client: typeof api;
const check = <S extends z.ZodType>(schema: { input: S, output: { name: string } }, input: z.input<S>) => {
  schema.input.parse(input);
  return Promise.resolve(schema.output);
};`,
    call: (router, name) => `check(client.${router}.${name}, INPUT)`,
  },

  "@quartet/kit": {
    imports: `import { createRouter, procedure } from "@quartet/kit/rpc";`,
    api: (routers) =>
      `export const api = createRouter({ ${routers.join(",\n")} });`,
    router: object,
    procedure: (name, schema, index) =>
      `${name}: procedure.${
        isQuery(index) ? "query" : "mutation"
      }(${schema}, ({ input }) => ${OUTPUT})`,
    client: `import type { api } from "./server.ts";
import { createClient } from "@quartet/kit/rpc/client";
const client = createClient<typeof api>({ httpEndpoint: "/rpc" });`,
    call: (router, name, index) =>
      `client.${router}.${name}.${isQuery(index) ? "query" : "mutate"}(INPUT)`,
  },

  "tRPC": {
    imports: `import { initTRPC } from "@trpc/server";
const t = initTRPC.create();`,
    api: (routers) =>
      `export const api = t.router({ ${routers.join(",\n")} });`,
    router: (name, procedures) =>
      `${name}: t.router({ ${procedures.join(",\n")} })`,
    procedure: (name, schema, index) =>
      `${name}: t.procedure.input(${schema}).${
        isQuery(index) ? "query" : "mutation"
      }(({ input }) => ${OUTPUT})`,
    client: `import type { api } from "./server.ts";
import { createTRPCClient, httpLink } from "@trpc/client";
const client = createTRPCClient<typeof api>({ links: [httpLink({ url: "/" })] });`,
    call: (router, name, index) =>
      `client.${router}.${name}.${isQuery(index) ? "query" : "mutate"}(INPUT)`,
  },

  "oRPC": {
    imports: `import { os } from "@orpc/server";`,
    api: (routers) => `export const api = { ${routers.join(",\n")} };`,
    router: object,
    procedure: (name, schema) =>
      `${name}: os.input(${schema}).handler(({ input }) => ${OUTPUT})`,
    client: `import type { api } from "./server.ts";
import { createORPCClient } from "@orpc/client";
import { RPCLink } from "@orpc/client/fetch";
import type { RouterClient } from "@orpc/server";
const client: RouterClient<typeof api> = createORPCClient(new RPCLink({ url: "/" }));`,
    call: (router, name) => `client.${router}.${name}(INPUT)`,
  },

  "Hono": {
    imports: `import { Hono } from "hono";
import { zValidator } from "@hono/zod-validator";`,
    api: (routers) => `export const api = new Hono()${routers.join("\n")};`,
    router: (name, procedures) =>
      `.route("/${name}", new Hono()${procedures.join("\n")})`,
    procedure: (name, schema) =>
      `.post("/${name}", zValidator("json", ${schema}), (c) => { const input = c.req.valid("json"); return c.json(${OUTPUT}); })`,
    client: `import type { api } from "./server.ts";
import { hc } from "hono/client";
const client = hc<typeof api>("/");`,
    call: (router, name) => `client.${router}.${name}.$post({ json: INPUT })`,
    // A call may also resolve to the validator's error.
    output: (result) => `(await ${result}.json() as { name: string })`,
  },

  "Elysia": {
    imports: `import { Elysia } from "elysia";`,
    api: (routers) => `export const api = new Elysia()${routers.join("\n")};`,
    router: (name, procedures) =>
      `.use(new Elysia({ prefix: "/${name}" })${procedures.join("\n")})`,
    procedure: (name, schema) =>
      `.post("/${name}", ({ body: input }) => ${OUTPUT}, { body: ${schema} })`,
    client: `import type { api } from "./server.ts";
import { treaty } from "@elysiajs/eden";
const client = treaty<typeof api>("localhost");`,
    call: (router, name) => `client.${router}.${name}.post(INPUT)`,
    output: (result) => `${result}.data!`,
  },
};

/** Writes the files of one candidate. */
export function generate(candidate: string): Sources {
  const dialect = DIALECTS[candidate]!;
  const { imports, client, call, output = (result) => result } = dialect;
  const routers: string[] = [];
  const calls: string[] = [];
  for (let r = 0; r < ROUTERS; r++) {
    const router = `router${r}`;
    const procedures: string[] = [];
    for (let p = 0; p < PROCEDURES; p++) {
      const index = r * PROCEDURES + p;
      const name = `procedure${p}`;
      procedures.push(dialect.procedure(name, schemaOf(index), index));
      if (index % CALL_EVERY !== 0) continue;
      const written = call(router, name, index).replace(
        "INPUT",
        inputOf(index),
      );
      calls.push(
        `const result${index} = await ${written};`,
        `export const name${index}: string = ${output(`result${index}`)}.name;`,
      );
    }
    routers.push(dialect.router(router, procedures));
  }
  const zod = `import { z } from "zod";`;
  const wrongInput = call("router0", "procedure0", 0)
    .replace("INPUT", `{ id: 1, page: 2 }`);
  const noProcedure = call("router0", "missing", 0)
    .replace("INPUT", inputOf(0));
  return {
    server: `${zod}\n${imports}\n${dialect.api(routers)}\n`,
    client: `${zod}\n${client}\n${calls.join("\n")}\n`,
    probe: `${zod}\n${client}\nawait ${wrongInput};\nawait ${noProcedure};\n`,
  };
}

/** Returns a schema of two or three fields. */
function schemaOf(index: number): string {
  return [
    "z.object({ id: z.string(), page: z.number().optional() })",
    "z.object({ id: z.string(), title: z.string().min(1), done: z.boolean() })",
    'z.object({ id: z.string(), order: z.enum(["up", "down"]).default("up") })',
  ][index % 4 % 3]!;
}

function inputOf(index: number): string {
  return [
    `{ id: "1", page: 2 }`,
    `{ id: "1", title: "a", done: true }`,
    `{ id: "1", order: "up" }`,
  ][index % 4 % 3]!;
}
