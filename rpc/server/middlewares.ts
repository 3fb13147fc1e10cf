import { currentScope, runWithin } from "../../core/request_scope.ts";
import { type Call, HandlerArguments } from "./call.ts";

/**
 * Runs the middlewares of a procedure around its handler. Ends the stream of a
 * subscription if one of them fails.
 *
 * @param handle Runs the handler.
 */
export async function runMiddlewares(
  call: Call,
  handle: (args: HandlerArguments) => unknown,
): Promise<unknown> {
  const { kind, middlewares } = call.procedure;
  let fields: Record<string, unknown> = {};
  let stream: unknown;
  let failed = false;
  const results = new WeakSet<object>();
  const begun = currentScope();

  const step = async (index: number): Promise<{ output: unknown }> => {
    const args = Object.assign(new HandlerArguments(call), fields);
    const middleware = middlewares[index];
    if (middleware === undefined) {
      const result = { output: await handle(args) };
      results.add(result);
      if (kind === "subscription") {
        stream = result.output;
        if (failed) endStream(stream);
      }
      return result;
    }
    const scope = currentScope();
    let called = false;
    const next = (added?: Record<string, unknown>) => {
      if (called) {
        throw new Error(
          `Cannot call next() twice: a middleware of ${call.path} did`,
        );
      }
      called = true;
      if (added !== undefined) fields = { ...fields, ...checkFields(added) };
      const result = runWithin(begun, scope, step, index + 1);
      // A middleware that doesn't await it must not end the process.
      result.catch(() => {});
      return result;
    };
    const result = await middleware(Object.assign(args, { next }) as never);
    if (results.has(result)) return result;
    throw new TypeError(
      `Cannot answer ${call.path}: a middleware must return the result of next()`,
    );
  };

  try {
    return (await step(0)).output;
  } catch (error) {
    failed = true;
    endStream(stream);
    throw error;
  }
}

/** Ends a stream that won't be read, such as a channel's. */
async function endStream(stream: unknown): Promise<void> {
  const iterable = Object(stream) as Partial<AsyncIterable<unknown>>;
  try {
    await iterable[Symbol.asyncIterator]?.().return?.();
  } catch {
    // The original failure is reported instead.
  }
}

const OWN_FIELDS: readonly string[] = [
  "input",
  "ctx",
  "request",
  "signal",
  "responseHeaders",
  "path",
  "type",
  "lastEventId",
  "next",
];

function checkFields(added: Record<string, unknown>): Record<string, unknown> {
  for (const key of OWN_FIELDS) {
    if (!Object.hasOwn(added, key)) continue;
    throw new TypeError(
      `Cannot add ${key} with next(): every handler has that field`,
    );
  }
  return added;
}
