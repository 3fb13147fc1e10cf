import { nodeCrypto } from "../runtime/environment.ts";

/** A Lua script. After Redis has seen its text, only its digest is sent. */
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
