/** Builds tags, so that all code spells them alike. */
export interface Tags {
  /** Returns the tag of one resource: `post:1`. */
  resource(type: string, id: string | number): string;
  /** Returns the tag of all resources of a type: `post`. */
  collection(type: string): string;
  /** Returns the tag of one user's resources of a type: `user:7:post`. */
  userScoped(userId: string | number, type: string): string;
}

/**
 * Builds tags.
 *
 * @example
 * ```ts
 * import { tags } from "@quartet/kit/data";
 *
 * console.assert(tags.resource("post", 1) === "post:1");
 * console.assert(tags.collection("post") === "post");
 * console.assert(tags.userScoped(7, "post") === "user:7:post");
 * ```
 */
export const tags: Tags = {
  resource: (type, id) => `${type}:${id}`,
  collection: (type) => type,
  userScoped: (userId, type) => `user:${userId}:${type}`,
};
