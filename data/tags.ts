/** Builds tags in the spelling that the kit's own parts share. */
export interface Tags {
  /** The tag of one thing: `post:1`. */
  resource(type: string, id: string | number): string;
  /** The tag of all things of a type: `post`. */
  collection(type: string): string;
  /** The tag of what one user has of a type: `user:7:post`. */
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
