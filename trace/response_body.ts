/**
 * Tells when a response's body has been sent, for hosts that do not tell it.
 *
 * @module
 */

/** Content types whose bodies are written bit by bit. */
const STREAM_TYPES =
  /^(text\/event-stream|application\/(x-ndjson|jsonl|json-seq)|multipart\/x-mixed-replace)/i;

/**
 * Whether a response's body is a stream for certain.
 *
 * A body made of a string says what type it is; one that says nothing is a
 * stream or raw bytes. Asking the body itself would turn a string into a
 * stream first.
 */
export function isEvidentStream(response: Response): boolean {
  const type = response.headers.get("content-type");
  return type === null ? response.body !== null : STREAM_TYPES.test(type);
}

/** Gives the same response with a body that reports its end, once. */
export function onBodyEnd(
  response: Response,
  onSent: () => void,
  onCutOff: () => void,
): Response {
  const { body } = response;
  if (body === null) {
    onSent();
    return response;
  }
  const reader = body.getReader();
  const reported = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        controller.close();
        onSent();
      } catch (error) {
        controller.error(error);
        onCutOff();
      }
    },
    async cancel(reason) {
      onCutOff();
      await reader.cancel(reason);
    },
  }, { highWaterMark: 0 });
  return new Response(reported, response);
}
