/**
 * The parts of `next/cache` that the documentation shows, as declared in
 * Next.js 16.4. Next itself would be a download of 100 MB for a few examples.
 *
 * @module
 */

declare global {
  interface RequestInit {
    next?: { revalidate?: number | false; tags?: string[] };
  }
}

export declare function unstable_cache<
  T extends (...args: never[]) => Promise<unknown>,
>(
  cb: T,
  keyParts?: string[],
  options?: { revalidate?: number | false; tags?: string[] },
): T;

export declare function revalidateTag(
  tag: string,
  profile: string | { expire?: number },
): undefined;

export declare function revalidatePath(
  originalPath: string,
  type?: "layout" | "page",
): undefined;

export declare function updateTag(tag: string): undefined;

export declare function cacheTag(...tags: string[]): void;

export declare function cacheLife(
  profile: string | { stale?: number; revalidate?: number; expire?: number },
): void;
