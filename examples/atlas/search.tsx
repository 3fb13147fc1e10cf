// The search. The server renders it. The browser updates it as you type.

import type { VNode } from "preact";
import { useRef, useState } from "preact/hooks";
import type { CountryName } from "./countries.ts";
import { Star, useFavourites } from "./star.tsx";
import { rpc } from "./rpc.ts";

export interface SearchProps {
  readonly query: string;
  readonly countries: readonly CountryName[];
  /** `null` if nobody is signed in. */
  readonly favourites: readonly CountryName[] | null;
}

/** The search form, the favourites, and the countries found. */
export function Search(props: SearchProps): VNode {
  const [countries, setCountries] = useState(props.countries);
  const favourites = useFavourites(props.favourites);
  const latest = useRef(props.query);

  async function search(query: string): Promise<void> {
    latest.current = query;
    const found = await rpc.countries.search.query({ query });
    // Responses can arrive in any order; keep only the latest query's.
    if (latest.current === query) setCountries(found);
  }

  return (
    <>
      <form role="search">
        <label for="q">Name or capital</label>
        <input
          type="search"
          id="q"
          name="q"
          value={props.query}
          onInput={(event) => search(event.currentTarget.value)}
        />
        <button type="submit">Search</button>
      </form>
      {favourites !== null && favourites.length > 0 && (
        <nav aria-labelledby="favourites">
          <h2 id="favourites">Favourites</h2>
          {favourites.map(({ code, name, flag }) => (
            <a key={code} href={`/countries/${code}`}>{flag} {name}</a>
          ))}
        </nav>
      )}
      <p>
        {countries.length === 1 ? "1 country" : `${countries.length} countries`}
      </p>
      <ul>
        {countries.map((country) => (
          <li key={country.code}>
            {favourites && <Star country={country} favourites={favourites} />}
            {" "}
            <CountryLink {...country} />
          </li>
        ))}
      </ul>
    </>
  );
}

export function CountryLink({ code, name, flag, region }: CountryName): VNode {
  return (
    <>
      <a href={`/countries/${code}`}>{flag} {name}</a> <small>{region}</small>
    </>
  );
}
