/** How a subscription ended, in `app.rpc.end` of its span. */
export type SubscriptionEnd =
  /** The generator has returned. */
  | "completed"
  /** The procedure failed. */
  | "failed"
  /** The position is no longer in the channel's history. */
  | "gap"
  | "unsubscribed"
  | "session_ended"
  | "socket_closed"
  | "shutdown";

/** The reason of the signal of a subscription that was stopped. */
export class Stopped extends DOMException {
  /** The value for the span. */
  readonly end: SubscriptionEnd;
  /** The close code of its socket, if that has closed. */
  readonly closeCode: number | undefined;

  /** Creates a reason, with a text for the procedure. */
  constructor(end: SubscriptionEnd, message: string, closeCode?: number) {
    super(message, "AbortError");
    this.end = end;
    this.closeCode = closeCode;
  }
}
