import { assert, assertEquals, assertThrows } from "@std/assert";
import { Validator } from "@seriousme/openapi-schema-validator";
import {
  createOpenAPIDocument,
  createRouter,
  type JSONSchema,
  type OpenAPIDocument,
  type OpenAPIOperation,
  type OpenAPIOptions,
  procedure,
  type RouterDef,
  type Schema,
} from "@quartet/kit/rpc";
import { z } from "zod";
import * as mini from "zod/mini";

const INFO = { title: "Test", version: "1.2.3" } as const;

/**
 * Returns the document of these procedures, after a public validator has
 * accepted it.
 */
async function documentOf(
  def: RouterDef,
  options: Partial<OpenAPIOptions> = {},
): Promise<OpenAPIDocument> {
  const document = createOpenAPIDocument(createRouter(def), {
    ...INFO,
    ...options,
  });
  const copy = JSON.parse(JSON.stringify(document));
  assertEquals(copy, document, "the document is plain JSON");
  const { valid, errors } = await new Validator().validate(copy);
  assert(valid, JSON.stringify(errors));
  return document;
}

function operation(document: OpenAPIDocument, path: string): OpenAPIOperation {
  const item = document.paths[`/api/rpc/${path}`];
  return (item?.get ?? item?.post)!;
}

const inputOf = (document: OpenAPIDocument, path: string): JSONSchema => {
  const { parameters, requestBody } = operation(document, path);
  return (parameters?.[0] ?? requestBody)!.content["application/json"].schema;
};

/** Returns the schemas of a success and of its data. */
function answerOf(document: OpenAPIDocument, path: string) {
  const response = operation(document, path).responses[200]!;
  assert("content" in response);
  const { schema } = response.content["application/json"];
  const { data } = schema.properties as { data: JSONSchema };
  return { data, required: schema.required };
}

/** Describes a query whose input and output have the same schema. */
async function describe(
  schema: z.ZodType,
  options: Partial<OpenAPIOptions> = {},
) {
  const document = await documentOf({
    it: procedure.output(schema).query(schema, () => null as never),
  }, options);
  return {
    document,
    input: inputOf(document, "it"),
    parameter: operation(document, "it").parameters![0]!,
    ...answerOf(document, "it"),
  };
}

Deno.test("createOpenAPIDocument() describes queries and mutations by their paths", async () => {
  const document = await documentOf({
    ping: procedure.query(() => "pong"),
    posts: createRouter({
      add: procedure.output(z.int()).mutation(z.string(), () => 1),
      v1: { "näme {x}": procedure.query(() => 1) },
      live: procedure.subscription(async function* () {}),
    }),
  }, { description: "What for", servers: [{ url: "https://api.example" }] });
  assertEquals(document.openapi, "3.1.0");
  assertEquals(document.info, { ...INFO, description: "What for" });
  assertEquals(document.servers, [{ url: "https://api.example" }]);
  assertEquals(document.tags, [{ name: "posts" }]);
  assertEquals(
    Object.entries(document.paths).map(([path, item]) => [
      path,
      Object.keys(item).join(),
      (item.get ?? item.post)!.operationId,
      (item.get ?? item.post)!.tags,
    ]),
    [
      ["/api/rpc/ping", "get", "ping", undefined],
      ["/api/rpc/posts.add", "post", "posts.add", ["posts"]],
      [
        "/api/rpc/posts.v1.n%C3%A4me%20%7Bx%7D",
        "get",
        "posts.v1.näme {x}",
        ["posts"],
      ],
    ],
  );
});

Deno.test("createOpenAPIDocument() prefixes the procedures with the endpoint", () => {
  const router = createRouter({ ping: procedure.query(() => 1) });
  const options = { ...INFO, endpoint: "/rpc" };
  const { paths } = createOpenAPIDocument(router, options);
  assertEquals(Object.keys(paths), ["/rpc/ping"]);
});

Deno.test("createOpenAPIDocument() describes inputs and outputs of a schema separately", async () => {
  const { input, data } = await describe(z.object({
    size: z.int().min(1).max(100).default(20),
    name: z.string().optional(),
  }));
  assertEquals(input.required, undefined);
  assertEquals(data.required, ["size"]);
  assertEquals(data.additionalProperties, false);
});

Deno.test("createOpenAPIDocument() requires an input unless a call without one is valid", async () => {
  const string = await describe(z.string());
  assertEquals(string.parameter.required, true);
  assertEquals(string.required, ["ok", "data"]);

  const optional = await describe(z.string().optional());
  assertEquals(optional.parameter.required, false);
  assertEquals(optional.required, ["ok"], "JSON leaves undefined out");

  const filled = await describe(z.string().default("x"));
  assertEquals(filled.parameter.required, false);
  assertEquals(filled.required, ["ok", "data"]);
});

Deno.test("createOpenAPIDocument() doesn't run refinements to find out whether an input is optional", async () => {
  let ran = 0;
  const slow = () => Promise.resolve(++ran > 0);
  const string = await describe(z.string().refine(slow));
  assertEquals(string.parameter.required, true);
  assertEquals(string.required, ["ok", "data"]);

  const optional = await describe(z.string().optional().refine(slow));
  assertEquals(optional.parameter.required, false);
  assertEquals(optional.required, ["ok"]);

  const either = z.union([z.string(), z.undefined()]).refine(slow);
  assertEquals((await describe(either)).required, ["ok"]);
  assertEquals(ran, 0);
});

Deno.test("createOpenAPIDocument() omits the parameter of a query without input", async () => {
  const document = await documentOf({ ping: procedure.query(() => 1) });
  assertEquals(operation(document, "ping").parameters, undefined);
  assertEquals(answerOf(document, "ping"), { data: {}, required: ["ok"] });
});

Deno.test("createOpenAPIDocument() requires a body for each mutation, because the server requires its content type", async () => {
  const document = await documentOf({
    none: procedure.mutation(() => 1),
    optional: procedure.mutation(z.string().optional(), () => 1),
  });
  for (const path of ["none", "optional"]) {
    assertEquals(operation(document, path).requestBody?.required, true);
  }
});

Deno.test("createOpenAPIDocument() keeps references of recursive schemas inside the document", async () => {
  const Tree = z.object({
    name: z.string(),
    get children() {
      return z.array(Tree);
    },
  });
  const Lazy: z.ZodType = z.lazy(() => z.union([z.int(), z.array(Lazy)]));
  const document = await documentOf({
    tree: procedure.output(z.object({ a: Tree, b: Tree }))
      .query(Tree, () => null as never),
    lazy: procedure.mutation(Lazy, () => 1),
  });
  const { schemas } = document.components;
  const tree = { $ref: "#/components/schemas/tree.input" };
  assertEquals(inputOf(document, "tree"), tree);
  assertEquals(
    schemas["tree.input"]!.properties,
    { name: { type: "string" }, children: { type: "array", items: tree } },
  );
  assertEquals(resolve(document), []);
});

Deno.test("createOpenAPIDocument() names the procedure whose schema is infinite", () => {
  const endless = (): z.ZodType =>
    z.object({ children: z.array(z.lazy(endless)) });
  const router = createRouter({
    tree: procedure.query(endless(), () => 1),
  });
  assertThrows(
    () => createOpenAPIDocument(router, { title: "A", version: "1" }),
    TypeError,
    "Cannot create OpenAPI document: the input of tree can't be described: it has no end; a schema that refers to itself must be one object",
  );
});

Deno.test("createOpenAPIDocument() shares schemas with an id and distinguishes different ones", async () => {
  const Post = z.object({ id: z.int() }).meta({ id: "Post" });
  const Draft = z.object({ title: z.string().default("") })
    .meta({ id: "Draft" });
  const query = (schema: z.ZodType) =>
    procedure.output(schema).query(schema, () => null as never);
  const document = await documentOf({
    one: procedure.output(Post).query(() => ({ id: 1 })),
    all: procedure.output(z.array(Post)).query(() => []),
    draft: query(z.object({ a: Draft, b: Draft })),
    again: query(Draft),
    mine: query(z.string().meta({ id: "Failure" })),
  });
  assertEquals(
    Object.keys(document.components.schemas),
    ["Failure", "Post", "Draft", "Draft2", "Failure2"],
  );
  const post = { $ref: "#/components/schemas/Post" };
  assertEquals(answerOf(document, "one").data, post);
  assertEquals(answerOf(document, "all").data.items, post);
  const draft = { $ref: "#/components/schemas/Draft2" };
  assertEquals(answerOf(document, "draft").data.properties, {
    a: draft,
    b: draft,
  });
  assertEquals(resolve(document), []);
});

Deno.test("createOpenAPIDocument() doesn't treat data as references", () => {
  const sample = { $ref: "#" };
  const schema = z.object({
    $ref: z.string(),
    get default() {
      return schema.optional();
    },
  }).meta({ id: "A/B ~1", examples: [sample] });
  // The validator would treat them as references.
  const document = createOpenAPIDocument(
    createRouter({ it: procedure.query(schema, () => 1) }),
    INFO,
  );
  const itself = { $ref: "#/components/schemas/A_B__1" };
  assertEquals(inputOf(document, "it"), itself);
  const { examples, properties } = document.components.schemas["A_B__1"]!;
  assertEquals(examples, [sample]);
  assertEquals(properties, { $ref: { type: "string" }, default: itself });
});

Deno.test("createOpenAPIDocument() describes dates and undefined as JSON encodes them", async () => {
  const date = { type: "string", format: "date-time" };
  const { data } = await describe(z.object({
    at: z.date(),
    nothing: z.undefined().optional(),
    maybe: z.literal(["a", undefined]),
    never: z.literal(undefined),
    either: z.union([z.string(), z.undefined()]),
    unknown: z.unknown(),
  }));
  assertEquals(data.properties, {
    at: date,
    nothing: { not: {} },
    maybe: { type: "string", const: "a" },
    never: { not: {} },
    either: { anyOf: [{ type: "string" }, { not: {} }] },
    unknown: {},
  });
  assertEquals(data.required, ["at"]);
  assertEquals((await describe(z.coerce.date())).input, date);
});

Deno.test("createOpenAPIDocument() describes undefined in arrays as null", async () => {
  const string = { type: "string" };
  const orNull = { anyOf: [string, { type: "null" }] };
  const { data, input } = await describe(z.object({
    list: z.array(z.string().optional()),
    full: z.array(z.string()),
    pair: z.tuple([z.string(), z.string().optional()]),
    any: z.array(z.unknown()),
  }));
  const properties = data.properties as Record<string, JSONSchema>;
  assertEquals(properties.list!.items, orNull);
  assertEquals(properties.full!.items, string);
  assertEquals(properties.pair!.prefixItems, [string, orNull]);
  assertEquals(properties.any!.items, {});
  const inputs = input.properties as Record<string, JSONSchema>;
  assertEquals(inputs.list!.items, string);

  const record = z.record(z.enum(["a", "b"]), z.unknown());
  assertEquals((await describe(record)).data.required, undefined);
});

Deno.test("createOpenAPIDocument() marks parts it can't describe, and describes the rest", async () => {
  const { input, data } = await describe(z.object({
    id: z.int(),
    size: z.string().transform((text) => text.length),
    at: z.date(),
  }));
  assertEquals(data.properties, {
    id: {
      type: "integer",
      minimum: Number.MIN_SAFE_INTEGER,
      maximum: Number.MAX_SAFE_INTEGER,
    },
    size: { $comment: "Transforms cannot be represented in JSON Schema" },
    at: { type: "string", format: "date-time" },
  });
  const properties = input.properties as Record<string, JSONSchema>;
  assertEquals(properties.size, { type: "string" });
  assertEquals(properties.at, {
    $comment: "Date cannot be represented in JSON Schema",
  });
});

Deno.test("createOpenAPIDocument() doesn't require data if an output may be anything", async () => {
  const { required } = await describe(z.string().transform(() => undefined));
  assertEquals(required, ["ok"]);
});

Deno.test("createOpenAPIDocument() accepts other schemas, and passes them to toJSONSchema", async () => {
  const parse = { parse: (value: unknown) => String(value) };
  const standard = {
    "~standard": {
      version: 1,
      vendor: "none",
      validate: (value: unknown) => Promise.resolve({ value }),
      jsonSchema: {
        input: () => ({ $schema: "https://example", type: "boolean" }),
        output() {
          // deno-lint-ignore no-throw-literal -- third-party code may
          throw "not supported";
        },
      },
    },
  };
  const def = {
    parse: procedure.query(parse, () => 1),
    standard: procedure.output(standard).query(standard, () => 1 as never),
  };
  const document = await documentOf(def);
  assertEquals(inputOf(document, "parse"), {
    $comment: "The schema has no Standard JSON Schema",
  });
  assertEquals(inputOf(document, "standard"), { type: "boolean" });
  assertEquals(answerOf(document, "standard").data, {
    $comment: "not supported",
  });
  // Only a call could show whether the input may be omitted.
  assert(operation(document, "standard").parameters![0]!.required);

  const calls: unknown[] = [];
  const custom = await documentOf(def, {
    toJSONSchema(schema, direction) {
      calls.push([schema, direction]);
      return schema === parse ? { type: "string" } : undefined;
    },
  });
  assertEquals(calls, [[parse, "input"], [standard, "output"]]);
  assertEquals(inputOf(custom, "parse"), { type: "string" });
});

Deno.test("createOpenAPIDocument() moves the references of other schemas, except external ones", () => {
  const point = "#/$defs/point~12%20d";
  const elsewhere = "https://example.com/schema.json#/$defs/x";
  const schema = {
    "~standard": {
      version: 1,
      vendor: "other",
      validate: (value: unknown) => ({ value }),
      jsonSchema: {
        input: () => ({
          type: "object",
          properties: {
            from: { $ref: point },
            x: { $ref: `${point}/properties/x` },
            far: { $ref: elsewhere },
            lost: { $ref: "#/$defs/lost" },
          },
          $defs: {
            "point/2 d": {
              type: "object",
              properties: { x: { type: "number" }, far: { $ref: elsewhere } },
            },
          },
        }),
      },
    },
  };
  // The validator accepts only references inside the document.
  const document = createOpenAPIDocument(
    createRouter({ it: procedure.query(schema as Schema, () => 1) }),
    INFO,
  );
  assertEquals(inputOf(document, "it"), {
    type: "object",
    properties: {
      from: { $ref: "#/components/schemas/point_2_d" },
      x: { $ref: "#/components/schemas/point_2_d/properties/x" },
      far: { $ref: elsewhere },
      lost: { $ref: "#/$defs/lost" },
    },
  });
  assertEquals(document.components.schemas["point_2_d"], {
    type: "object",
    properties: { x: { type: "number" }, far: { $ref: elsewhere } },
  });
});

Deno.test("createOpenAPIDocument() doesn't require an output that only an asynchronous check could show", async () => {
  const output = (validate: (value: unknown) => unknown) => ({
    "~standard": {
      version: 1,
      vendor: "other",
      validate,
      jsonSchema: { output: () => ({ type: "string" }) },
    },
  });
  const requiredOf = async (validate: (value: unknown) => unknown) => {
    const schema = output(validate) as unknown as Schema;
    const it = procedure.output(schema).query(() => null as never);
    return answerOf(await documentOf({ it }), "it").required;
  };
  assertEquals(await requiredOf((value) => Promise.resolve({ value })), ["ok"]);
  assertEquals(await requiredOf((value) => ({ value })), ["ok"]);
  assertEquals(await requiredOf(() => ({ value: "" })), ["ok", "data"]);
});

Deno.test("createOpenAPIDocument() passes parts of zod's schemas to toJSONSchema", async () => {
  const { data } = await describe(z.object({ big: z.bigint() }), {
    toJSONSchema: (schema) =>
      schema instanceof z.ZodBigInt ? { type: "string" } : undefined,
  });
  assertEquals(data.properties, { big: { type: "string" } });
});

Deno.test("createOpenAPIDocument() describes Zod Mini's schemas with Zod Mini's function", async () => {
  const Tree = mini.object({
    get children() {
      return mini.array(Tree);
    },
  });
  const document = await documentOf({
    tree: procedure.query(mini.array(Tree), () => 1),
  }, {
    toJSONSchema: (schema, io) =>
      mini.toJSONSchema(schema as mini.ZodMiniType, { io }),
  });
  assertEquals(inputOf(document, "tree").type, "array");
  assertEquals(resolve(document), []);
});

Deno.test("createOpenAPIDocument() names the procedure whose schema can't be described", () => {
  const def = {
    posts: { add: procedure.mutation(z.object({ n: z.bigint() }), () => 1) },
  };
  const refuse = () => {
    throw new Error("No bigint, please");
  };
  const error = assertThrows(
    () =>
      createOpenAPIDocument(createRouter(def), {
        ...INFO,
        toJSONSchema: refuse,
      }),
    TypeError,
    "Cannot create OpenAPI document: the input of posts.add can't be described: No bigint, please",
  );
  assert(error.cause instanceof Error);
});

Deno.test("createOpenAPIDocument() rejects a router with a transformer, but accepts its definition", () => {
  const router = createRouter(
    { inner: createRouter({ ping: procedure.query(() => 1) }) },
    { transformer: JSON },
  );
  assertThrows(
    () => createOpenAPIDocument(router, INFO),
    TypeError,
    "the router has a transformer",
  );
  const plain = createOpenAPIDocument(createRouter(router._def), INFO);
  assertEquals(Object.keys(plain.paths), ["/api/rpc/inner.ping"]);
  // A nested router can't have a transformer of its own.
  const outer = createRouter({ router: router._def });
  const { paths } = createOpenAPIDocument(outer, INFO);
  assertEquals(Object.keys(paths), ["/api/rpc/router.inner.ping"]);
});

Deno.test("createOpenAPIDocument() checks its options", () => {
  const router = createRouter({});
  const cases: [object, string][] = [
    [{ version: "1" }, "title must be a string, received undefined"],
    [{ title: "A", version: 1 }, "version must be a string, received 1"],
    [{ ...INFO, endpoint: "/rpc/" }, 'received "/rpc/"'],
    [{ ...INFO, endpoint: "rpc" }, "endpoint must be a path"],
  ];
  for (const [options, message] of cases) {
    assertThrows(
      () => createOpenAPIDocument(router, options as OpenAPIOptions),
      TypeError,
      message,
    );
  }
});

/** Returns the document's references without a target. */
function resolve(document: OpenAPIDocument): string[] {
  const lost: string[] = [];
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    const { $ref } = value as { $ref?: unknown };
    if (typeof $ref === "string") {
      let target: unknown = document;
      for (const key of $ref.slice(2).split("/")) {
        target = (target as Record<string, unknown> | undefined)?.[key];
      }
      if (target === undefined) lost.push($ref);
    }
    Object.values(value).forEach(visit);
  };
  visit(document);
  return lost;
}
