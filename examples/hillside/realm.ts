import type { Grant, Redeemed, TokenErrorCode } from "./grants.ts";

/** One provider of those that the server can be. */
export interface Realm {
  /** A name for people to read. */
  readonly title: string;
  /** The paths of its endpoints, below its own folder. */
  readonly authorizePath: string;
  readonly tokenPath: string;
  /** Answers for a code that was taken. */
  answerToken(
    granted: Exclude<Redeemed, TokenErrorCode>,
    request: Request,
  ): Response | Promise<Response>;
  /** Answers for one that was not. */
  answerError(code: TokenErrorCode): Response;
  /**
   * Answers at the other endpoints, if there is one at the path.
   *
   * @param grant What the bearer may know, if the request has a valid token.
   */
  answer(
    path: string,
    grant: Grant | undefined,
    request: Request,
  ): Response | undefined | Promise<Response | undefined>;
}
