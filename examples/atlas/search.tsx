// The search: the server renders it, and in the browser it filters as you type.

import type { VNode } from "preact";
import { useRef, useState } from "preact/hooks";
import type { CountryName } from "./countries.ts";

/** What the search shows. */
export interface SearchProps {
  readonly query: string;
  readonly countries: readonly CountryName[];
}

/** The form and the countries that were found. */
export function Search(props: SearchProps): VNode {
  const [countries, setCountries] = useState(props.countries);
  const latest = useRef(props.query);

  async function search(query: string): Promise<void> {
    latest.current = query;
    const response = await fetch(
      `/api/countries?q=${encodeURIComponent(query)}`,
    );
    const found = await response.json();
    // Answers may overtake each other.
    if (response.ok && latest.current === query) setCountries(found);
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
      <p>
        {countries.length === 1 ? "1 country" : `${countries.length} countries`}
      </p>
      <CountryList countries={countries} />
    </>
  );
}

/** Links to countries. */
export function CountryList(
  { countries }: { countries: readonly CountryName[] },
): VNode {
  return (
    <ul>
      {countries.map(({ code, name, flag, region }) => (
        <li key={code}>
          <a href={`/countries/${code}`}>{flag} {name}</a>{" "}
          <small>{region}</small>
        </li>
      ))}
    </ul>
  );
}
