/**
 * The types of an OpenAPI 3.1 document, as far as the kit writes it.
 *
 * @module
 */

import type { JSONSchema } from "./json_schema.ts";

/** An OpenAPI 3.1 document that describes a router. */
export interface OpenAPIDocument {
  /** The version of OpenAPI. */
  readonly openapi: "3.1.0";
  /** What the API is. */
  readonly info: OpenAPIInfo;
  /** Where it is served; without it, where the document is. */
  readonly servers?: readonly OpenAPIServer[];
  /** The procedures by URL path. */
  readonly paths: { readonly [path: string]: OpenAPIPathItem };
  /** What the operations refer to. */
  readonly components: OpenAPIComponents;
  /** The groups that operations belong to: the first keys of their paths. */
  readonly tags: readonly OpenAPITag[];
}

/** What an API is. */
export interface OpenAPIInfo {
  /** Its name. */
  readonly title: string;
  /** Its version, not that of OpenAPI. */
  readonly version: string;
  /** What it is for; may be CommonMark. */
  readonly description?: string;
}

/** Where an API is served. */
export interface OpenAPIServer {
  /** The URL that paths are appended to, such as `https://api.example`. */
  readonly url: string;
  /** Which one it is. */
  readonly description?: string;
}

/** A procedure: a query has `get`, a mutation `post`. */
export interface OpenAPIPathItem {
  /** The query. */
  readonly get?: OpenAPIOperation;
  /** The mutation. */
  readonly post?: OpenAPIOperation;
}

/** How a procedure is called. */
export interface OpenAPIOperation {
  /** The procedure's dotted path. */
  readonly operationId: string;
  /** The first key of its path, unless that is all there is. */
  readonly tags?: readonly string[];
  /** The input of a query. */
  readonly parameters?: readonly OpenAPIParameter[];
  /** The input of a mutation. */
  readonly requestBody?: OpenAPIRequestBody;
  /** The answers by HTTP status. */
  readonly responses: {
    readonly [status: string]: OpenAPIResponse | OpenAPIReference;
  };
}

/** The query parameter that holds the input, as JSON. */
export interface OpenAPIParameter {
  /** Its name. */
  readonly name: "input";
  /** Where it stands. */
  readonly in: "query";
  /** Whether the query can't do without. */
  readonly required: boolean;
  /** What it holds. */
  readonly content: OpenAPIContent;
}

/** The body that holds the input. */
export interface OpenAPIRequestBody {
  /** What to know of it. */
  readonly description?: string;
  /** Whether the mutation can't do without. */
  readonly required: boolean;
  /** What it holds. */
  readonly content: OpenAPIContent;
}

/** An answer. */
export interface OpenAPIResponse {
  /** When it is given. */
  readonly description: string;
  /** What it holds. */
  readonly content: OpenAPIContent;
}

/** JSON, and what is in it. */
export interface OpenAPIContent {
  /** All there is. */
  readonly "application/json": { readonly schema: JSONSchema };
}

/** Stands for something among the components. */
export interface OpenAPIReference {
  /** Where it is in the document. */
  readonly $ref: string;
}

/** What operations refer to. */
export interface OpenAPIComponents {
  /** Schemas that refer to themselves, or that have a name of their own. */
  readonly schemas: { readonly [name: string]: JSONSchema };
  /** The failures. */
  readonly responses: { readonly [name: string]: OpenAPIResponse };
}

/** A group of operations. */
export interface OpenAPITag {
  /** The first key of their paths. */
  readonly name: string;
}
