/**
 * Faults of a provider, for tests.
 *
 * @module
 */

export type Fault =
  /** Status 200 with an error in JSON. */
  | "error"
  /** Status 401 with an error in JSON. */
  | "unauthorized"
  /** Status 200 with an HTML page. */
  | "html"
  /** Truncated JSON. */
  | "broken"
  /** Endless JSON. */
  | "huge"
  /** A compression bomb: small JSON that unpacks to 64 MiB. */
  | "bomb"
  /** JSON of another type than expected. */
  | "other"
  /** Headers and one character, then nothing more. */
  | "stalled"
  /** No response. */
  | "silent"
  /** A redirect to an address that answers. */
  | "redirect";

export const FAULTS: readonly Fault[] = [
  "error",
  "unauthorized",
  "html",
  "broken",
  "huge",
  "bomb",
  "other",
  "stalled",
  "silent",
  "redirect",
];

/** The text in a failing provider's responses. Users must never see it. */
export const PROVIDER_TEXT = "text-of-the-provider";

const JSON_HEADERS = { "content-type": "application/json" };
const ERROR = {
  error: PROVIDER_TEXT,
  error_description: `${PROVIDER_TEXT} <script>alert(1)</script>`,
};

/**
 * Responds with a fault.
 *
 * @param closing Aborts when the server closes. Ends `silent` responses.
 */
export async function answerWith(
  fault: Fault,
  request: Request,
  closing: AbortSignal,
): Promise<Response> {
  switch (fault) {
    case "error":
      return Response.json(ERROR);
    case "unauthorized":
      return Response.json(ERROR, { status: 401 });
    case "html":
      return new Response(`<!DOCTYPE html><p>${PROVIDER_TEXT}</p>`, {
        headers: { "content-type": "text/html" },
      });
    case "broken":
      return new Response(`{"id": 1, "sub": "${PROVIDER_TEXT}`, {
        headers: JSON_HEADERS,
      });
    case "huge":
      return new Response(endless(), { headers: JSON_HEADERS });
    case "bomb":
      return new Response(bomb(), {
        headers: { ...JSON_HEADERS, "content-encoding": "gzip" },
      });
    case "other":
      return Response.json("neither an object nor an array");
    case "stalled":
      return new Response(begun(), { headers: JSON_HEADERS });
    case "silent":
      await new Promise((resolve) =>
        closing.addEventListener("abort", resolve)
      );
      return new Response();
    case "redirect":
      return new Response(null, {
        status: 307,
        headers: { location: new URL("/stolen", request.url).href },
      });
  }
}

function endless(): ReadableStream<Uint8Array> {
  const chunk = new TextEncoder().encode(" ".repeat(64 * 1024));
  return new ReadableStream({
    pull: (controller) => controller.enqueue(chunk),
  });
}

/** A valid object of 64 MiB, compressed to 64 KiB. */
function bomb(): ReadableStream<Uint8Array<ArrayBuffer>> {
  const blank = new TextEncoder().encode(" ".repeat(1024 * 1024));
  const end = new TextEncoder().encode("{}");
  let left = 64;
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      controller.enqueue(left-- > 0 ? blank : end);
      if (left < 0) controller.close();
    },
  }).pipeThrough(new CompressionStream("gzip"));
}

function begun(): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode("{")),
  });
}
