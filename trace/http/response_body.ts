/**
 * Tells when a response's body has been sent, where the host doesn't.
 *
 * @module
 */

import { type RequestScope, runInScope } from "../../core/request_scope.ts";

const STREAM_TYPES =
  /^(text\/event-stream|application\/(x-ndjson|jsonl|json-seq)|multipart\/x-mixed-replace)/i;

/** Whether bodies of a content type are written bit by bit. */
export function isStreamType(type: string | null): boolean {
  return type !== null && STREAM_TYPES.test(type);
}

/**
 * Gives the same response with a body that reports its end, once. The body is
 * produced in `scope`, so that what a generator records is in its request.
 */
export function onBodyEnd(
  response: Response,
  scope: RequestScope,
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
        const { done, value } = await runInScope(scope, () => reader.read());
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
