import { nodeCrypto } from "../runtime/node_builtins.ts";

/** A Lua script. Once Redis has seen its text, its digest is enough. */
export class RedisScript {
  readonly text: string;
  #sha: string | undefined;

  /** Creates a script. */
  constructor(text: string) {
    this.text = text.trim();
  }

  /** The SHA-1 digest in hex, as EVALSHA takes it. */
  get sha(): string {
    return this.#sha ??= nodeCrypto().createHash("sha1").update(this.text)
      .digest("hex");
  }
}
