import { describe } from "./describe.ts";

/**
 * A value inside parsed JSON that knows where it is, so that whoever finds it
 * wrong can say which one it was. The path is only put together then.
 */
export class Field {
  /** What is there; `undefined` if nothing is. */
  readonly value: unknown;
  readonly #parent: Field | undefined;
  readonly #key: string | number;

  /** A whole document; its parts come from `get` and `items`. */
  constructor(value: unknown, parent?: Field, key: string | number = "") {
    this.value = value;
    this.#parent = parent;
    this.#key = key;
  }

  /** Whether it is absent, which `null` means too in protobuf's JSON. */
  get isAbsent(): boolean {
    return this.value === undefined || this.value === null;
  }

  /** A property of its own. */
  get(key: string): Field {
    const { value } = this;
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      return this.fail("an object");
    }
    const record = value as Record<string, unknown>;
    const own = Object.hasOwn(record, key) ? record[key] : undefined;
    return new Field(own, this, key);
  }

  /** Its elements; none if it is absent. */
  items(): Field[] {
    if (this.isAbsent) return [];
    if (!Array.isArray(this.value)) return this.fail("an array");
    return this.value.map((item, i) => new Field(item, this, i));
  }

  /** Its text; empty if it is absent. */
  text(): string {
    if (this.isAbsent) return "";
    return typeof this.value === "string" ? this.value : this.fail("a string");
  }

  /** Its count; `undefined` if it is absent or 0. */
  countOrNone(): number | undefined {
    if (this.isAbsent || this.value === 0) return undefined;
    const { value } = this;
    if (typeof value === "number" && Number.isInteger(value) && value > 0) {
      return value;
    }
    return this.fail("a whole number from 0");
  }

  /** Throws that something else must be here. */
  fail(expected: string): never {
    throw new TypeError(
      `Cannot read OTLP: ${this.#path() || "the value"} must be ${expected}, ` +
        `received ${describe(this.value)}`,
    );
  }

  #path(): string {
    if (this.#parent === undefined) return "";
    const path = this.#parent.#path();
    if (typeof this.#key === "number") return `${path}[${this.#key}]`;
    return path === "" ? this.#key : `${path}.${this.#key}`;
  }
}
