/**
 * The tools for assistants: their descriptions, and the check of arguments.
 *
 * @module
 */

import { closest } from "../../core/check/options.ts";
import { isObject, show } from "../../core/check/rules.ts";
import { compareRuns, listFindings } from "./cause_tools.ts";
import { recentErrors, slowRoutes, summary } from "./overview_tools.ts";
import { type Parameter, type Sources, type Tool, ToolError } from "./tool.ts";
import { getLogs, getTrace, SEVERITIES } from "./trace_tools.ts";

function text(description: string): Parameter {
  return { type: "string", description };
}

function limit(
  maximum: number,
  description = "Maximum entries. Default: 10",
): Parameter {
  return { type: "integer", description, minimum: 1, maximum };
}

const route = text("Part of a method and route, such as GET /books");
const id = text("The trace id, 32 hexadecimal digits, from another tool");

const BY_NAME: ReadonlyMap<string, Tool> = new Map(Object.entries<Tool>({
  summary: {
    description:
      "Requests, failures, findings and routes of the app since it started. Call it first",
    parameters: {},
    run: summary,
  },
  recent_errors: {
    description:
      "Failed requests, the latest first: error, file and line, and a trace id. Equal ones are counted",
    parameters: { route, limit: limit(50) },
    run: recentErrors,
  },
  slow_routes: {
    description:
      "Routes by their median duration, each with its number of queries and the slowest steps",
    parameters: { route, limit: limit(50) },
    run: slowRoutes,
  },
  findings: {
    description:
      "Causes that the dev command has found, such as repeated queries, slow queries and caches that never hit, each with file, line and a trace id",
    parameters: {
      route,
      rule: text("The name of a rule"),
      id: text("Only findings of this trace id"),
      limit: limit(100),
    },
    run: listFindings,
  },
  get_trace: {
    description:
      "All steps of one request as an indented text: duration, statement, file and line, reason, error and logs",
    parameters: {
      id,
      span: text("Only the part below this span: the id after a #"),
      lines: limit(400, "Maximum lines. Default: 80"),
    },
    required: ["id"],
    run: getTrace,
  },
  compare_runs: {
    description:
      "Routes that became slower or faster between two runs of the dev command, and the files that changed in between",
    parameters: {
      run: {
        type: "integer",
        description:
          "The start of the later run, in epoch milliseconds. Default: the present run",
      },
      route,
      limit: limit(50),
    },
    run: compareRuns,
  },
  get_logs: {
    description: "The logs of one request, in order",
    parameters: {
      id,
      severity: {
        ...text("The least severity. Default: debug"),
        enum: SEVERITIES,
      },
      contains: text("Text that a log contains"),
      limit: limit(200, "Maximum logs. Default: 50"),
    },
    required: ["id"],
    run: getLogs,
  },
}));

/** The list of tools, as the protocol describes them. */
export const TOOLS = [...BY_NAME].map((
  [name, { description, parameters, required = [] }],
) => ({
  name,
  description,
  inputSchema: {
    type: "object",
    properties: parameters,
    required,
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true, openWorldHint: false },
}));

/** The result of a call. */
export interface ToolResult {
  readonly content: readonly { readonly type: "text"; readonly text: string }[];
  readonly isError?: true;
}

/** Calls a tool. Returns the problem if there is no such tool. */
export async function callTool(
  name: unknown,
  args: unknown,
  sources: Sources,
): Promise<ToolResult | string> {
  const tool = BY_NAME.get(name as string);
  if (tool === undefined) {
    const names = [...BY_NAME.keys()].join(", ");
    return `name must be one of ${names}, received ${show(name)}`;
  }
  const given = args ?? {};
  const problem = problemOf(tool, given);
  try {
    if (problem !== undefined) throw new ToolError(problem);
    return resultOf(await tool.run(sources, given));
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return { ...resultOf(error.message), isError: true };
  }
}

function resultOf(text: string): ToolResult {
  return { content: [{ type: "text", text }] };
}

function problemOf(
  { parameters, required = [] }: Tool,
  args: unknown,
): string | undefined {
  if (!isObject(args)) {
    return `arguments must be an object, received ${show(args)}`;
  }
  const known = new Map(Object.entries(parameters));
  for (const [name, value] of Object.entries(args)) {
    const parameter = known.get(name);
    if (parameter === undefined) {
      const names = [...known.keys()];
      const meant = closest(name, names, 2);
      const hint = meant === undefined
        ? `must be one of ${names.join(", ") || "none"}`
        : `did you mean ${meant}?`;
      return `Unknown argument ${show(name)}: ${hint}`;
    }
    const expected = expectedOf(parameter, value);
    if (expected !== undefined) {
      return `${name} must be ${expected}, received ${show(value)}`;
    }
  }
  const missing = required.find((name) => args[name] === undefined);
  return missing === undefined ? undefined : `${missing} must be given`;
}

/** Returns what a value should have been, or `undefined` if it is valid. */
function expectedOf(
  { type, enum: choices, minimum = -Infinity, maximum = Infinity }: Parameter,
  value: unknown,
): string | undefined {
  if (choices !== undefined) {
    const isChoice = choices.includes(value as string);
    return isChoice ? undefined : `one of ${choices.join(", ")}`;
  }
  if (type === "string") {
    return typeof value === "string" ? undefined : "a text";
  }
  const isValid = Number.isInteger(value) && Number(value) >= minimum &&
    Number(value) <= maximum;
  const range = maximum === Infinity ? "" : ` from ${minimum} to ${maximum}`;
  return isValid ? undefined : `an integer${range}`;
}
