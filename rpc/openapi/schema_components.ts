/**
 * The components of an OpenAPI document: schemas and failures.
 *
 * @module
 */

import { isObject } from "../../core/check/rules.ts";
import type { JSONSchema } from "./json_schema.ts";
import type { OpenAPIDocument } from "./openapi_document.ts";

/**
 * Creates the collection of an OpenAPI document's schemas.
 *
 * A reference such as `#/$defs/Post` is relative to the document's root, so an
 * inner schema can't keep its `$defs`. Equal definitions with one name become
 * one component. Different ones, often the input and output of a schema, get a
 * number.
 *
 * @param schemas The initial components.
 */
export function createSchemaComponents(
  schemas: { readonly [name: string]: JSONSchema },
) {
  const components = new Map(Object.entries(schemas));
  const known = new Map<string, string>();

  return {
    /**
     * Returns a schema that works anywhere in the document: its definitions move
     * to the components, and its references follow.
     *
     * @param rootName The name of the schema, if it refers to itself.
     */
    embed(schema: JSONSchema, rootName: string): JSONSchema {
      const { $schema: _, $defs = {}, ...root } = schema;
      const parts = new Map<string, JSONSchema>([
        ["", root],
        ...Object.entries($defs as Record<string, JSONSchema>)
          .map(([key, def]) => [DEFS + key, def] as const),
      ]);
      const names = new Map<string, string>();

      /** Returns the name of the component for a part, created on first use. */
      function nameOf(key: string): string {
        const given = names.get(key);
        if (given !== undefined) return given;
        const wanted = key === "" || key.startsWith(`${DEFS}__`)
          ? rootName
          : key.slice(DEFS.length);
        const meaning = `${wanted} ${spell(key, parts)}`;
        const equal = known.get(meaning);
        const name = equal ?? free(wanted);
        names.set(key, name);
        if (equal === undefined) {
          known.set(meaning, name);
          // Reserved first, because its own references may be circular.
          components.set(name, {});
          components.set(name, relocate(parts.get(key)!));
        }
        return name;
      }

      const relocate = (part: JSONSchema) =>
        mapReferences(part, (ref) => {
          const [key, rest] = split(ref, parts);
          return key === undefined
            ? ref
            : `#/components/schemas/${nameOf(key)}${rest}`;
        });

      return refersTo("", parts)
        ? { $ref: `#/components/schemas/${nameOf("")}` }
        : relocate(root);
    },
    /** Returns the components so far, by name. */
    get schemas() {
      return Object.fromEntries(components);
    },
  };

  function free(wanted: string): string {
    // OpenAPI 3.1, section 4.8.7.2, allows no other characters.
    const legal = wanted.replace(/[^\w.-]/g, "_");
    let name = legal;
    for (let n = 2; components.has(name); n++) name = `${legal}${n}`;
    return name;
  }
}

/** The parts of a schema by JSON pointer: `""` is the whole. */
type Parts = ReadonlyMap<string, JSONSchema>;

const DEFS = "/$defs/";

/** Splits a reference into its part, if any, and the rest. */
function split(ref: string, parts: Parts): [string | undefined, string] {
  if (ref !== "#" && !ref.startsWith("#/")) return [undefined, ""];
  const pointer = ref.slice(1);
  if (!pointer.startsWith(DEFS)) return ["", pointer];
  const end = pointer.indexOf("/", DEFS.length);
  const segment = pointer.slice(DEFS.length, end === -1 ? undefined : end);
  // Decodes the URL's escapes, then the pointer's: RFC 6901, sections 4 and 6.
  const key = DEFS +
    decodeURIComponent(segment).replaceAll("~1", "/").replaceAll("~0", "~");
  return parts.has(key)
    ? [key, end === -1 ? "" : pointer.slice(end)]
    : [undefined, ""];
}

function refersTo(key: string, parts: Parts): boolean {
  let found = false;
  for (const part of parts.values()) {
    mapReferences(part, (ref) => {
      if (split(ref, parts)[0] === key) found = true;
      return ref;
    });
  }
  return found;
}

/**
 * Returns a text that is equal for equivalent definitions, whatever the names
 * of their parts.
 */
function spell(key: string, parts: Parts): string {
  const reached = [key];
  const texts: string[] = [];
  for (const key of reached) {
    const spelled = mapReferences(parts.get(key)!, (ref) => {
      const [target, rest] = split(ref, parts);
      if (target === undefined) return ref;
      if (!reached.includes(target)) reached.push(target);
      return `${reached.indexOf(target)} ${rest}`;
    });
    texts.push(JSON.stringify(spelled));
  }
  return texts.join("\n");
}

/** Keywords that hold values, where a `$ref` isn't a reference. */
const HOLDS_VALUES = new Set(["const", "default", "enum", "examples"]);

/** Keywords that hold schemas by arbitrary names. */
const HOLDS_NAMES = new Set([
  "$defs",
  "definitions",
  "dependentSchemas",
  "patternProperties",
  "properties",
]);

/** Returns a copy of a schema with mapped references. */
function mapReferences(
  schema: JSONSchema,
  change: (ref: string) => string,
): JSONSchema {
  const inside = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inside);
    return isObject(value) ? mapReferences(value, change) : value;
  };

  return mapEntries(schema, (key, value) => {
    if (key === "$ref" && typeof value === "string") return change(value);
    if (HOLDS_VALUES.has(key)) return value;
    if (HOLDS_NAMES.has(key) && isObject(value)) {
      return mapEntries(value, (_, schema) => inside(schema));
    }
    return inside(value);
  });
}

function mapEntries(
  object: JSONSchema,
  change: (key: string, value: unknown) => unknown,
): JSONSchema {
  return Object.fromEntries(
    Object.entries(object).map(([key, value]) => [key, change(key, value)]),
  );
}

/** The envelope of a failure, the same for all procedures. */
export const FAILURE_SCHEMA: JSONSchema = {
  type: "object",
  properties: {
    ok: { const: false },
    error: {
      type: "object",
      properties: {
        code: { type: "string", description: "A stable name for programs" },
        message: { type: "string", description: "A sentence for people" },
        details: {
          description:
            "More information. For VALIDATION_ERROR: the issues, each with path, message and code, or an object with a message",
        },
      },
      required: ["code", "message"],
    },
  },
  required: ["ok", "error"],
};

/** The failures of every operation. */
export const FAILURE_RESPONSES: OpenAPIDocument["components"]["responses"] = {
  BadRequest: failure(
    "Invalid call: PARSE_ERROR if it isn't valid JSON, VALIDATION_ERROR if the input doesn't match the schema, or the procedure's own code",
  ),
  InternalError: failure(
    "INTERNAL_ERROR: an unexpected error on the server, without details",
  ),
  Failure: failure(
    "Any other failure, such as UNAUTHORIZED (401), FORBIDDEN (403), NOT_FOUND (404), PAYLOAD_TOO_LARGE (413), RATE_LIMITED (429), UNAVAILABLE (503), or the procedure's own code",
  ),
};

function failure(
  description: string,
): OpenAPIDocument["components"]["responses"][string] {
  return {
    description,
    content: {
      "application/json": { schema: { $ref: "#/components/schemas/Failure" } },
    },
  };
}
