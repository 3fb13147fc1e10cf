import { type BodyError, readBodyText } from "../../core/http/read_body.ts";
import { RPCError } from "../error.ts";
import { parseError } from "./read_message.ts";

/**
 * Returns the JSON text of a POST.
 *
 * @param maxSize Maximum bytes.
 * @throws {RPCError} `PARSE_ERROR` if the content type isn't JSON's or the body
 * isn't UTF-8, `PAYLOAD_TOO_LARGE` if it is larger.
 */
export async function readPostBody(
  request: Request,
  maxSize: number,
): Promise<string> {
  checkContentType(request.headers);
  try {
    return await readBodyText(request, maxSize);
  } catch (error) {
    const { problem, message } = error as BodyError;
    throw problem === "TOO_LARGE"
      ? new RPCError("PAYLOAD_TOO_LARGE", message, 413)
      : parseError(message);
  }
}

/**
 * Browsers send JSON to another site only after asking it (CORS), but forms
 * and `text/plain` without. RFC 8259, section 8.1, knows UTF-8 only.
 */
function checkContentType(headers: Headers): void {
  const type = headers.get("content-type");
  if (type === "application/json") return;
  if (type !== null && isJsonType(type)) return;
  throw parseError("The content type must be application/json, in UTF-8");
}

const CHARSET = /^charset\s*=\s*"?utf-?8"?$/i;

/** Only a charset may follow, and a semicolon at the end. */
function isJsonType(text: string): boolean {
  const [type, ...parameters] = text.split(";", 4).map((part) => part.trim());
  if (type!.toLowerCase() !== "application/json") return false;
  if (parameters.at(-1) === "") parameters.pop();
  return parameters.length === 0 ||
    parameters.length === 1 && CHARSET.test(parameters[0]!);
}
