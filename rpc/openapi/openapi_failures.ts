/**
 * The failures in an OpenAPI document, the same for all procedures.
 *
 * @module
 */

import type { JSONSchema } from "./json_schema.ts";
import type { OpenAPIDocument } from "./openapi_document.ts";

/** The envelope of a failure. */
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
