/**
 * Classifies Postgres's error codes.
 *
 * @module
 */

/**
 * Errors of a server that shuts down, starts, is read-only or lacks the tables.
 * Another connection may reach another server, or create the tables again.
 *
 * ```
 *   08…    connection failure        25006  read-only transaction
 *   57P…   shutdown, start           53300  too many connections
 *   3F000  no such schema            42P01  no such table
 *   42883  no such function
 * ```
 */
const LOST = /^(08...|57P..|25006|53300|3F000|42P01|42883)$/;

/** Temporary errors: no disk or memory, a held lock, a time limit of the server. */
const TEMPORARY = /^(53...|55P03|57014)$/;

/** Returns the code of an error response of Postgres. */
function codeOf(error: Error): string | undefined {
  const { code, severity } = error as { code?: unknown; severity?: unknown };
  // Errors of the connection, such as ECONNRESET, have no severity.
  return typeof severity === "string" ? `${code}` : undefined;
}

/** Whether the connection or its server failed. */
export function isConnectionLost(error: Error): boolean {
  const code = codeOf(error);
  return code === undefined || LOST.test(code);
}

/** Whether a conflict with another transaction has undone the statement. */
export function isConflict(error: Error): boolean {
  return codeOf(error)?.startsWith("40") ?? false;
}

/** Whether the statement may succeed later. */
export function isTemporary(error: Error): boolean {
  return TEMPORARY.test(codeOf(error) ?? "");
}
