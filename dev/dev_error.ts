/** A problem that the user of the dev command can fix, printed as one line. */
export class DevError extends Error {
  /** The exit code: 2 for a wrong command line, otherwise 1. */
  readonly exitCode: 1 | 2;

  /** Creates an error with a message for the user. */
  constructor(message: string, exitCode: 1 | 2 = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}
