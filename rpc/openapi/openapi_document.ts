import type { JSONSchema } from "./json_schema.ts";

/** An OpenAPI 3.1 document that describes a router. */
export interface OpenAPIDocument {
  /** The version of OpenAPI. */
  readonly openapi: "3.1.0";
  /** The API's name, version, and purpose as CommonMark. */
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly description?: string;
  };
  /** The origins of the API. Default: the document's. */
  readonly servers?: readonly {
    readonly url: string;
    readonly description?: string;
  }[];
  /** The procedures by URL path: a query has `get`, a mutation `post`. */
  readonly paths: {
    readonly [path: string]: {
      readonly get?: OpenAPIOperation;
      readonly post?: OpenAPIOperation;
    };
  };
  /** Schemas and responses that the operations refer to. */
  readonly components: {
    readonly schemas: { readonly [name: string]: JSONSchema };
    readonly responses: { readonly [name: string]: OpenAPIResponse };
  };
  /** The groups of operations: the first keys of their paths. */
  readonly tags: readonly { readonly name: string }[];
}

/** A procedure in an OpenAPI document. */
export interface OpenAPIOperation {
  /** The procedure's dotted path. */
  readonly operationId: string;
  /** The first key of its path, if it has several. */
  readonly tags?: readonly string[];
  /** The input of a query, as JSON. */
  readonly parameters?: readonly {
    readonly name: "input";
    readonly in: "query";
    readonly required: boolean;
    readonly content: OpenAPIContent;
  }[];
  /** The input of a mutation. */
  readonly requestBody?: {
    readonly description?: string;
    readonly required: boolean;
    readonly content: OpenAPIContent;
  };
  /** The responses by HTTP status. */
  readonly responses: {
    readonly [status: string]: { readonly $ref: string } | OpenAPIResponse;
  };
}

/** A response in an OpenAPI document. */
export interface OpenAPIResponse {
  /** When it is sent. */
  readonly description: string;
  /** Its body. */
  readonly content: OpenAPIContent;
}

/** A body in an OpenAPI document. */
export interface OpenAPIContent {
  /** The schema of the JSON. */
  readonly "application/json": { readonly schema: JSONSchema };
}
