import type { Tracer } from "../../trace/types.ts";
import type { Findings } from "../findings/findings.ts";
import type { Runs } from "../runs/start.ts";

/** The data of the tools. */
export interface Sources {
  readonly tracer: Tracer;
  readonly findings: Pick<Findings, "list" | "of">;
  readonly runs: Pick<Runs, "list">;
}

/** A parameter of a tool. */
export interface Parameter {
  readonly type: "string" | "integer";
  readonly description: string;
  /** The only valid values. Default: any. */
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
}

/** The checked arguments of a call. */
export interface Arguments {
  readonly id?: string;
  readonly span?: string;
  readonly route?: string;
  readonly rule?: string;
  readonly severity?: string;
  readonly contains?: string;
  readonly run?: number;
  readonly limit?: number;
  readonly lines?: number;
}

/** Answers a call. Throws a {@linkcode ToolError} for a wrong argument. */
export type RunTool = (
  sources: Sources,
  args: Arguments,
) => string | Promise<string>;

/** A tool, and what it needs to be called. */
export interface Tool {
  readonly description: string;
  readonly parameters: Readonly<Record<string, Parameter>>;
  readonly required?: readonly string[];
  readonly run: RunTool;
}

/** An argument that a tool can't use. The message says what to do. */
export class ToolError extends Error {}
