import {
  checkOptions,
  checkValue,
  type OptionRules,
} from "../../core/check/options.ts";
import { aFunction, aString, required } from "../../core/check/rules.ts";
import type { Schema } from "../procedure/schema.ts";
import type { Endpoint } from "../server/call.ts";
import {
  anEndpoint,
  aRouterWith,
  DEFAULT_ENDPOINT,
  listEndpoints,
} from "../server/endpoints.ts";
import type { Router } from "../server/router.ts";
import {
  describeSchema,
  isAlwaysSent,
  type JSONSchema,
  mayBeAbsent,
  type ToJSONSchema,
} from "./json_schema.ts";
import type {
  OpenAPIContent,
  OpenAPIDocument,
  OpenAPIOperation,
} from "./openapi_document.ts";
import {
  createSchemaComponents,
  FAILURE_RESPONSES,
  FAILURE_SCHEMA,
} from "./schema_components.ts";

/** Options of {@linkcode createOpenAPIDocument}. */
export interface OpenAPIOptions {
  /** The name of the API. */
  readonly title: string;
  /** The version of the API. The version of OpenAPI is fixed. */
  readonly version: string;
  /** The purpose of the API. May be CommonMark. */
  readonly description?: string;
  /** The endpoint of `rpcPlugin`. Default `/api/rpc`. */
  readonly endpoint?: string;
  /** The origin of the API. Default: the document's. */
  readonly servers?: OpenAPIDocument["servers"];
  /**
   * Describes schemas, and parts of zod schemas, that have no JSON Schema.
   * Without it, or where it returns `undefined`, such a part is any value, with
   * the reason in `$comment`. To require a description, throw.
   *
   * Dates don't need it. For Zod Mini, use
   * `(schema, io) => z.toJSONSchema(schema, { io })`.
   */
  readonly toJSONSchema?: ToJSONSchema;
}

/**
 * Describes a router in OpenAPI 3.1, for callers in other languages and for
 * tools. Queries are `GET endpoint/<path>`, mutations `POST endpoint/<path>`,
 * with the schemas of input and output. Serve the document as JSON.
 *
 * It doesn't contain subscriptions, which don't use HTTP. Without a schema
 * (`procedure.output(…)`), an output is any value.
 *
 * @param router The router. It must have no transformer, whose text JSON Schema
 * can't describe. Serve `createRouter(router._def)` at a second endpoint
 * instead.
 * @param options Title, version, and endpoint.
 * @returns A plain object to send as JSON.
 * @throws {TypeError} If an option is missing or malformed, the router has a
 * transformer, or a schema can't be described; the message names the procedure.
 *
 * @example
 * ```ts
 * import {
 *   createOpenAPIDocument,
 *   createRouter,
 *   procedure,
 * } from "@quartet/kit/rpc";
 * import { z } from "zod";
 *
 * const router = createRouter({
 *   posts: {
 *     byId: procedure
 *       .output(z.object({ title: z.string() }))
 *       .query(z.int(), ({ input }) => ({ title: `Post ${input}` })),
 *   },
 * });
 * const document = createOpenAPIDocument(router, {
 *   title: "Blog",
 *   version: "1.0.0",
 * });
 *
 * const operation = document.paths["/api/rpc/posts.byId"]?.get;
 * console.assert(operation?.operationId === "posts.byId");
 * console.assert(operation?.parameters?.[0]?.required);
 * ```
 */
export function createOpenAPIDocument(
  router: Pick<Router, "_def" | "~wire">,
  options: OpenAPIOptions,
): OpenAPIDocument {
  checkValue(router, "router", aRouterWith("_def"), OPERATION);
  checkOptions(options, OPTIONS, OPERATION);
  const server = { url: aString, description: aString };
  options.servers?.forEach((value, index) =>
    checkOptions(value, server, OPERATION, `servers[${index}]`)
  );
  if (router["~wire"] === "transformed") {
    throw cannot(
      "the router has a transformer, whose text JSON Schema can't describe; give createRouter(router._def) instead, and serve that one too",
    );
  }
  const { title, version, description, servers, toJSONSchema } = options;
  const { endpoint = DEFAULT_ENDPOINT } = options;
  const components = createSchemaComponents({ Failure: FAILURE_SCHEMA });
  const paths: Record<string, OpenAPIDocument["paths"][string]> = {};
  const tags = new Set<string>();

  for (const [path, { procedure }] of listEndpoints(router._def)) {
    if (procedure.kind === "subscription") continue;
    const describe: Describe = (schema, direction) => {
      try {
        const described = describeSchema(schema, direction, toJSONSchema);
        return components.embed(described, `${path}.${direction}`);
      } catch (error) {
        throw cannot(`the ${direction} of ${path} can't be described`, error);
      }
    };
    const [tag] = path.split(".", 1) as [string];
    if (tag !== path) tags.add(tag);
    const operation: OpenAPIOperation = {
      operationId: path,
      ...(tag === path ? {} : { tags: [tag] }),
      ...describeInput(procedure, describe),
      responses: {
        200: {
          description: "The output of the procedure",
          content: describeOutput(procedure, describe),
        },
        ...FAILURES,
      },
    };
    paths[`${endpoint}/${encodeURIComponent(path)}`] =
      procedure.kind === "query" ? { get: operation } : { post: operation };
  }

  return {
    openapi: "3.1.0",
    info: {
      title,
      version,
      ...(description === undefined ? {} : { description }),
    },
    ...(servers === undefined ? {} : { servers }),
    paths,
    components: {
      schemas: components.schemas,
      responses: FAILURE_RESPONSES,
    },
    tags: [...tags].map((name) => ({ name })),
  };
}

const FAILURES = {
  400: { $ref: "#/components/responses/BadRequest" },
  500: { $ref: "#/components/responses/InternalError" },
  default: { $ref: "#/components/responses/Failure" },
};

/** Describes a schema of one procedure. */
type Describe = (
  schema: Schema,
  direction: "input" | "output",
) => JSONSchema;

function describeInput(
  { kind, input }: Endpoint["procedure"],
  describe: Describe,
): Pick<OpenAPIOperation, "parameters" | "requestBody"> {
  const schema = input === undefined ? {} : describe(input, "input");
  if (kind === "mutation") {
    // Without a body, most callers send no content type. The server would then
    // treat the call as another site's form.
    const ignored = { description: "Ignored, but must be JSON" };
    return {
      requestBody: {
        ...(input === undefined ? ignored : {}),
        required: true,
        content: json(schema),
      },
    };
  }
  if (input === undefined) return {};
  const required = !mayBeAbsent(input);
  return {
    parameters: [
      { name: "input", in: "query", required, content: json(schema) },
    ],
  };
}

function describeOutput(
  { output }: Endpoint["procedure"],
  describe: Describe,
): OpenAPIContent {
  const data = output === undefined ? {} : describe(output, "output");
  return json({
    type: "object",
    properties: { ok: { const: true }, data },
    required: output !== undefined && isAlwaysSent(output, data)
      ? ["ok", "data"]
      : ["ok"],
  });
}

function json(schema: JSONSchema): OpenAPIContent {
  return { "application/json": { schema } };
}

const OPERATION = "create OpenAPI document";

const OPTIONS: OptionRules<OpenAPIOptions> = {
  title: required(aString),
  version: required(aString),
  description: aString,
  endpoint: anEndpoint,
  servers: true,
  toJSONSchema: aFunction,
};

function cannot(reason: string, cause?: unknown): TypeError {
  const message = cause instanceof RangeError
    ? ": it has no end; a schema that refers to itself must be one object, not a function that makes a new one each time"
    : cause instanceof Error
    ? `: ${cause.message}`
    : "";
  return new TypeError(
    `Cannot ${OPERATION}: ${reason}${message}`,
    cause === undefined ? {} : { cause },
  );
}
