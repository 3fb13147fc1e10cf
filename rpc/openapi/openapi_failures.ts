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
        message: { type: "string", description: "One sentence for people" },
        details: {
          description:
            "More about it. Of VALIDATION_ERROR the issues found, each with path, message and code, or an object with a message",
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
    "The call isn't right: PARSE_ERROR if it isn't valid JSON, VALIDATION_ERROR if the input isn't what the procedure takes, or a code of the procedure's own",
  ),
  InternalError: failure(
    "INTERNAL_ERROR: something went wrong on the server, and nothing more is said",
  ),
  Failure: failure(
    "Any other failure, such as UNAUTHORIZED (401), FORBIDDEN (403), NOT_FOUND (404), PAYLOAD_TOO_LARGE (413), RATE_LIMITED (429), UNAVAILABLE (503), or a code of the procedure's own",
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
