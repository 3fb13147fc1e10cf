// The star that marks a country, here and in every other tab.

import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
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
    isMarked
      ? rpc.favourites.remove.mutate({ code })
      : rpc.favourites.add.mutate({ code });
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

/** The favourites, as they are now. */
export function useFavourites(
  first: readonly CountryName[],
): readonly CountryName[] {
  const [favourites, setFavourites] = useState(first);
  useEffect(
    () => rpc.favourites.live.subscribe(undefined, { onData: setFavourites }),
    [],
  );
  return favourites;
}

/** A star that keeps itself up to date, for a page with one country. */
export function LiveStar({ country, favourites }: StarProps): VNode {
  return <Star country={country} favourites={useFavourites(favourites)} />;
}
