/** Something that the user of the dev command can mend; told in one line. */
export class DevError extends Error {
  /** The exit code of the command: 2 for a wrong command line, else 1. */
  readonly exitCode: 1 | 2;

  /** Makes an error with a message for the user. */
  constructor(message: string, exitCode: 1 | 2 = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}
