/** The reason why a registry rejects a package, with JSR's error code. */
export class PublishError extends Error {
  /** For example `configFileExportsInvalid`. */
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
