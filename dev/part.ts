/** A part of the dev command that runs until it is closed. */
export interface Part {
  close(): void | Promise<void>;
}
