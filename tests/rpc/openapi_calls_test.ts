/**
 * Calls each procedure as the OpenAPI document describes it. The responses must
 * match the document.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { createApp, serve } from "@quartet/kit/app";
import {
  createOpenAPIDocument,
  createRouter,
  errors,
  type JSONSchema,
  procedure,
  rpcPlugin,
} from "@quartet/kit/rpc";
import addFormats from "ajv-formats";
import { Ajv2020 } from "ajv/dist/2020.js";
import { z } from "zod";

const Tree = z.object({
  name: z.string(),
  get children() {
    return z.array(Tree);
  },
}).meta({ id: "Tree" });

const Page = z.object({
  size: z.int().min(1).max(10).default(2),
  after: z.iso.datetime().optional(),
  order: z.enum(["asc", "desc"]).nullable().default(null),
});

const router = createRouter({
  ping: procedure.query(() => "pong"),
  reset: procedure.mutation(() => {}),
  posts: {
    list: procedure
      .output(z.array(z.object({
        at: z.date(),
        next: z.unknown(),
        tags: z.array(z.string().optional()),
      })))
      .query(Page, ({ input }) =>
        Array.from({ length: input.size }, () => ({
          at: new Date(0),
          next: undefined,
          tags: ["a", undefined],
        }))),
    "by id/ä?": procedure.output(z.string().optional())
      .query(z.int().optional(), ({ input }) => input?.toString()),
    add: procedure.output(z.object({ length: z.int() })).mutation(
      z.object({ title: z.string().trim().min(1) }),
      ({ input }) => ({ length: input.title.length }),
    ),
    tree: procedure.output(Tree).mutation(Tree, ({ input }) => input),
    secret: procedure.query(() => {
      throw errors.unauthorized();
    }),
    broken: procedure.mutation(z.unknown(), () => {
      throw new Error("hidden");
    }),
  },
}, { onError() {} });

/** Inputs for each procedure, and the status of the response. */
const CALLS: { readonly [path: string]: readonly [unknown, number][] } = {
  ping: [[undefined, 200]],
  reset: [[{}, 200], ["anything", 200]],
  "posts.list": [
    [{}, 200],
    [{ size: 3, after: "2026-01-01T00:00:00Z", more: 1 }, 200],
    [{ size: 11 }, 400],
    [{ after: "yesterday" }, 400],
    [{ order: "up" }, 400],
    [undefined, 400],
    [null, 400],
  ],
  "posts.by id/ä?": [[undefined, 200], [7, 200], [1.5, 400], ["7", 400]],
  "posts.add": [[{ title: "ä & b?" }, 200], [{ title: "" }, 400], [[], 400]],
  "posts.tree": [
    [{ name: "a", children: [{ name: "b", children: [] }] }, 200],
    [{ name: "a", children: [{ name: "b" }] }, 400],
  ],
  "posts.secret": [[undefined, 401]],
  "posts.broken": [[{ any: "thing" }, 500]],
};

const document = createOpenAPIDocument(router, {
  title: "Test",
  version: "1.0.0",
});

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema(JSON.parse(JSON.stringify(document)), "document");

/** Returns a validator of the schema at this place in the document. */
function validatorAt(...keys: string[]) {
  const pointer = keys.map((key) =>
    encodeURIComponent(key.replaceAll("~", "~0").replaceAll("/", "~1"))
  );
  return ajv.compile({ $ref: `document#/${pointer.join("/")}` });
}

const JSON_SCHEMA = ["content", "application/json", "schema"] as const;

Deno.test("Calls that follow the OpenAPI document get the responses it describes", async () => {
  const app = createApp({ plugins: [rpcPlugin({ router })] });
  const server = serve(app, { port: 0, signals: false, onListen() {} });
  const base = `http://127.0.0.1:${server.address.port}`;
  const called = new Set<string>();

  for (const [url, item] of Object.entries(document.paths)) {
    const method = item.get ? "get" : "post";
    const { operationId, parameters, requestBody, responses } = item[method]!;
    called.add(operationId);
    const here = ["paths", url, method];
    const input = parameters
      ? validatorAt(...here, "parameters", "0", ...JSON_SCHEMA)
      : requestBody
      ? validatorAt(...here, "requestBody", ...JSON_SCHEMA)
      : undefined;
    const required = (parameters?.[0] ?? requestBody)?.required;

    for (const [value, status] of CALLS[operationId]!) {
      const what = `${operationId}(${JSON.stringify(value)})`;
      const described = value === undefined ? !required : input!(value);
      assertEquals(described, status !== 400, `${what} is as described`);

      const text = JSON.stringify(value);
      const query = parameters && value !== undefined
        ? `?${new URLSearchParams({ input: text })}`
        : "";
      const response = await fetch(`${base}${url}${query}`, {
        method,
        ...(requestBody
          ? { body: text, headers: { "content-type": "application/json" } }
          : {}),
      });
      const body = await response.json();
      assertEquals(response.status, status, `${what}: ${JSON.stringify(body)}`);

      const key = status in responses ? `${status}` : "default";
      const answer = responses[key]!;
      const place = "$ref" in answer
        ? answer.$ref.slice(2).split("/")
        : [...here, "responses", key];
      const validate = validatorAt(...place, ...JSON_SCHEMA);
      assert(validate(body), `${what}: ${JSON.stringify(validate.errors)}`);
    }
  }
  assertEquals([...called], Object.keys(CALLS), "every procedure is called");
  await server.shutdown();
});

Deno.test("The response schemas of the OpenAPI document reject other responses", () => {
  const url = "/api/rpc/posts.tree";
  const path = ["paths", url, "post", "responses", "200", ...JSON_SCHEMA];
  const validate = validatorAt(...path);
  const cases: [JSONSchema, boolean][] = [
    [{ ok: true, data: { name: "a", children: [] } }, true],
    [{ ok: true, data: { name: "a", children: [{ name: 1 }] } }, false],
    [{ ok: true }, false],
    [{ ok: false, error: { code: "A", message: "b" } }, false],
  ];
  for (const [body, valid] of cases) assertEquals(validate(body), valid);
});
