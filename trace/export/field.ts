import { kindOf, show } from "../../core/check/rules.ts";

/**
 * A value in parsed JSON with its path, for error messages. The path is only
 * built for an error.
 */
export class Field {
  /** The value. `undefined` if it is missing. */
  readonly value: unknown;
  readonly #key: string | number;
  readonly #parent: Field | undefined;

  /**
   * A whole document. `get` and `items` return its parts.
   *
   * @param key The name of the document, such as `OTLP`.
   */
  constructor(value: unknown, key: string | number, parent?: Field) {
    this.value = value;
    this.#key = key;
    this.#parent = parent;
  }

  /** Whether it is absent. In protobuf's JSON, `null` is absent too. */
  get isAbsent(): boolean {
    return this.value === undefined || this.value === null;
  }

  /** Returns an own property. */
  get(key: string): Field {
    const record = this.record();
    const own = Object.hasOwn(record, key) ? record[key] : undefined;
    return new Field(own, key, this);
  }

  /** Returns the properties. */
  record(): Record<string, unknown> {
    return this.expect("an object", kindOf(this.value) === "an object");
  }

  /** Returns the elements. */
  items(ifAbsent?: []): Field[] {
    const isList = Array.isArray(this.value);
    const items = this.expect<unknown[]>("an array", isList, ifAbsent);
    return items.map((item, i) => new Field(item, i, this));
  }

  /** Returns the text. */
  text(ifAbsent?: ""): string {
    return this.expect("a string", typeof this.value === "string", ifAbsent);
  }

  /** Returns the number. */
  number(): number {
    return this.expect("a finite number", Number.isFinite(this.value));
  }

  /** Returns the text, which must be one of some. */
  oneOf<T extends string>(choices: readonly T[]): T {
    return this.expect(
      `one of ${choices.join(", ")}`,
      choices.includes(this.value as T),
    );
  }

  /** Returns a valid value, or the default for an absent one. */
  expect<T>(what: string, isRight: boolean, ifAbsent?: T): T {
    if (isRight) return this.value as T;
    if (ifAbsent !== undefined && this.isAbsent) return ifAbsent;
    return this.fail(what);
  }

  /** Throws the error for a wrong value. */
  fail(expected: string): never {
    const [document, path] = this.#place();
    const name = path.replace(/^\./, "") || "the value";
    const received = this.value === undefined ? "nothing" : show(this.value);
    throw new TypeError(
      `Cannot read ${document}: ${name} must be ${expected}, received ${received}`,
    );
  }

  /** The name of the document, and the path to the value. */
  #place(): readonly [document: string | number, path: string] {
    const key = this.#key;
    if (this.#parent === undefined) return [key, ""];
    const [document, path] = this.#parent.#place();
    const isWord = typeof key === "string" && /^\w+$/.test(key);
    return [document, path + (isWord ? `.${key}` : `[${JSON.stringify(key)}]`)];
  }
}
