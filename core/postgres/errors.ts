/**
 * The meaning of Postgres's error codes.
 *
 * @module
 */

/**
 * Errors of a server that shuts down, starts, takes no writes or has lost the
 * tables. Another connection may reach a better one, or create them anew.
 *
 * ```
 *   08…    connection failure        25006  read-only transaction
 *   57P…   shutdown, start           53300  too many connections
 *   3F000  no such schema            42P01  no such table
 *   42883  no such function
 * ```
 */
const LOST = /^(08...|57P..|25006|53300|3F000|42P01|42883)$/;

/**
 * Errors that may pass: no disk or memory, a conflict, a lock that is held, a
 * time limit of the server.
 */
const PASSING = /^(53...|40...|55P03|57014)$/;

/** Returns the code of an error that Postgres has answered with. */
function codeOf(error: Error): string | undefined {
  const { code, severity } = error as { code?: unknown; severity?: unknown };
  // Errors of the connection, such as ECONNRESET, have no severity.
  return typeof severity === "string" ? `${code}` : undefined;
}

/** Whether the connection is of no more use: it failed, or its server did. */
export function isConnectionLost(error: Error): boolean {
  const code = codeOf(error);
  return code === undefined || LOST.test(code);
}

/** Whether the statement failed, but may succeed later. */
export function isPassing(error: Error): boolean {
  return PASSING.test(codeOf(error) ?? "");
}
