// The star that marks a favourite. It updates in all tabs.

import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { RPCClientError } from "@quartet/kit/rpc/client";
import type { CountryName } from "./countries.ts";
import { rpc } from "./rpc.ts";

export interface StarProps {
  readonly country: Pick<CountryName, "code" | "name">;
  readonly favourites: readonly CountryName[];
}

/** A button that adds or removes a favourite. */
export function Star(
  { country: { code, name }, favourites }: StarProps,
): VNode {
  const isMarked = favourites.some((favourite) => favourite.code === code);
  // The subscription to the favourites delivers the result.
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

/** Subscribes to the favourites. `null`: not signed in. */
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

/** Reloads the page if the user has signed out elsewhere. */
function leave(error: unknown): void {
  const isOut = error instanceof RPCClientError &&
    error.code === "UNAUTHORIZED";
  if (isOut) location.reload();
  else console.error(error);
}

/** A star with its own subscription, for the page of one country. */
export function LiveStar({ country, favourites }: StarProps): VNode {
  return <Star country={country} favourites={useFavourites(favourites)} />;
}
