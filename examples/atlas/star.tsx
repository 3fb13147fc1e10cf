// The star that marks a country, here and in every other tab.

import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { RPCClientError } from "@quartet/kit/rpc/client";
import type { CountryName } from "./countries.ts";
import { rpc } from "./rpc.ts";

/** What a star is shown with. */
export interface StarProps {
  readonly country: Pick<CountryName, "code" | "name">;
  readonly favourites: readonly CountryName[];
}

/** Marks a country, or takes the mark away. */
export function Star(
  { country: { code, name }, favourites }: StarProps,
): VNode {
  const isMarked = favourites.some((favourite) => favourite.code === code);
  // What comes of it is told by the live favourites.
  const toggle = () =>
    (isMarked
      ? rpc.favourites.remove.mutate({ code })
      : rpc.favourites.add.mutate({ code })).catch(leave);
  return (
    <button
      type="button"
      class="star"
      aria-label={`Favourite ${name}`}
      aria-pressed={isMarked}
      onClick={toggle}
    >
      {isMarked ? "★" : "☆"}
    </button>
  );
}

/** The favourites, as they are now; `null` remains so. */
export function useFavourites<T extends readonly CountryName[] | null>(
  first: T,
): T | readonly CountryName[] {
  const [favourites, setFavourites] = useState<T | readonly CountryName[]>(
    first,
  );
  useEffect(() => {
    if (first === null) return;
    return rpc.favourites.live.subscribe(undefined, {
      onData: setFavourites,
      onError: leave,
    });
  }, []);
  return favourites;
}

/** If one has signed out elsewhere, shows the page as strangers see it. */
function leave(error: unknown): void {
  const isOut = error instanceof RPCClientError &&
    error.code === "UNAUTHORIZED";
  if (isOut) location.reload();
  else console.error(error);
}

/** A star that keeps itself up to date, for a page with one country. */
export function LiveStar({ country, favourites }: StarProps): VNode {
  return <Star country={country} favourites={useFavourites(favourites)} />;
}
