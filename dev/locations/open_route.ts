/**
 * Opens lines of code in the editor, for the viewer: `POST /__app/traces/open` with
 * `{ "path": "/app/posts.ts", "line": 41 }`.
 *
 * @module
 */

import { errorResponse, methodNotAllowed } from "../../core/error_response.ts";
import { type BodyError, readBodyJSON } from "../../core/http/read_body.ts";
import { type ExtraRoute, isLocalRequest } from "../../trace/http/access.ts";
import { EditorError, openInEditor } from "./editor.ts";
import { projectFile } from "./project_file.ts";

const MAX_BODY = 16 * 1024;

/** Opens a line of a file of the project in the editor. */
export const openRoute: ExtraRoute = async (request, info) => {
  if (request.method !== "POST") {
    return methodNotAllowed("Use POST to open a file", "POST");
  }
  // Another program of this machine has an editor of its own. A page of another
  // site can't send JSON without asking first.
  if (!isLocalRequest(request, info) || !request.headers.has("origin")) {
    return errorResponse(403, "FORBIDDEN", "Only the viewer opens files");
  }
  if (request.headers.get("content-type") !== "application/json") {
    const message = "The content type must be application/json";
    return errorResponse(415, "UNSUPPORTED_MEDIA_TYPE", message);
  }
  const place = await readPlace(request);
  if (typeof place === "string") {
    return errorResponse(400, "BAD_REQUEST", place);
  }
  const file = await projectFile(place.path);
  if (file === undefined) {
    const message = "The working directory has no such file";
    return errorResponse(403, "FORBIDDEN", message);
  }
  try {
    await openInEditor(file, place.line);
  } catch (error) {
    if (!(error instanceof EditorError)) throw error;
    return errorResponse(503, "NO_EDITOR", error.message);
  }
  return new Response(null, { status: 204 });
};

/** Returns the wanted path and line, or the problem with the body. */
async function readPlace(
  request: Request,
): Promise<{ path: string; line: number } | string> {
  let body: unknown;
  try {
    body = await readBodyJSON(request, MAX_BODY);
  } catch (error) {
    return (error as BodyError).message;
  }
  const { path, line = 1 } = Object(body) as { path?: unknown; line?: unknown };
  if (typeof path !== "string" || path === "") return "path must be a string";
  return typeof line === "number" && Number.isSafeInteger(line) && line > 0
    ? { path, line }
    : "line must be a positive integer";
}
