import type { Grant, Redeemed, TokenErrorCode } from "./grants.ts";

/** A provider that the server simulates. */
export interface Realm {
  /** The display name. */
  readonly title: string;
  /** The paths of its endpoints, without the provider's prefix. */
  readonly authorizePath: string;
  readonly tokenPath: string;
  /** Creates the response to a valid code. */
  answerToken(
    granted: Exclude<Redeemed, TokenErrorCode>,
    request: Request,
  ): Response | Promise<Response>;
  /** Creates the response to an invalid code or client. */
  answerError(code: TokenErrorCode): Response;
  /**
   * Responds at the other endpoints. `undefined`: no endpoint has this path.
   *
   * @param grant The grant of the request's bearer token, if it is valid.
   */
  answer(
    path: string,
    grant: Grant | undefined,
    request: Request,
  ): Response | undefined | Promise<Response | undefined>;
}
