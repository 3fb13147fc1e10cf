import { redactText } from "../../core/redact/redact.ts";
import {
  isSecretProperty,
  nameAtEnd,
  REDACTED,
} from "../../core/redact/redact_url.ts";
import { nodeUtil } from "../../core/runtime/environment.ts";
import type { FormatLog, LogMethod } from "./console_text.ts";

/** A call of the console. */
type Call = readonly [method: LogMethod, args: readonly unknown[]];

/** It takes the next argument: `"%s, token: %s", name, token`. */
const PLACEHOLDER = /(?<!%)%[a-z]/i;

/**
 * Returns the call to record in place of another one, so that each secret of its
 * arguments is redacted or next to its name.
 */
export function safeCall(format: FormatLog, ...call: Call): Call {
  const [method, args] = call;
  if (method === "table") {
    const rows: Call = ["log", args.slice(0, 1)];
    const text = nodeUtil().stripVTControlCharacters(format(...rows));
    return redactText(text) === text ? call : rows;
  }
  const first = method === "assert" ? 1 : 0;
  const text = args[first];
  const parts = typeof text === "string" ? text.split(PLACEHOLDER) : [];
  const safe = args.map((arg, i) => {
    const part = parts[i - first - 1];
    // In `"%s: %s"`, the name is an argument, too.
    const isLabel = part !== undefined && (i === first + 1 || /\w/.test(part));
    return isSecret(isLabel ? part : args[i - 1], arg) ? REDACTED : arg;
  });
  return safe.every((arg, i) => arg === args[i]) ? call : [method, safe];
}

/** Whether a value follows its secret name, as in `console.log("token:", token)`. */
function isSecret(label: unknown, value: unknown): boolean {
  if (typeof label !== "string") return false;
  const isText = typeof value === "string";
  if (!isText && typeof value !== "number") return false;
  const end = label.slice(-100).trimEnd();
  const name = end.replace(/ ?[:=]$/, "");
  // In `console.log("Checking the password", "again")`, it's a word of a sentence.
  if (name === end && /\s/.test(name)) return false;
  const last = nameAtEnd(name);
  // A count isn't secret.
  return isSecretProperty(last) && (isText || !/tokens$/i.test(last));
}
