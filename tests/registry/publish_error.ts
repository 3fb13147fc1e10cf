/** Why a registry refuses a package, with a code as JSR has it. */
export class PublishError extends Error {
  /** Such as `configFileExportsInvalid`. */
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
