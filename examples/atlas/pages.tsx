// The pages of Atlas.

import type { ComponentChildren, VNode } from "preact";
import type { Country, CountryName } from "./countries.ts";

function Page(
  { title, children }: { title: string; children: ComponentChildren },
): VNode {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{title}</title>
        <link rel="stylesheet" href="/style.css" />
      </head>
      <body>
        <header>
          <a href="/">Atlas</a>
        </header>
        <main>{children}</main>
      </body>
    </html>
  );
}

/** The list of countries, with its search. */
export function ListPage(
  { query, countries }: { query: string; countries: readonly CountryName[] },
): VNode {
  return (
    <Page title="Atlas">
      <form role="search">
        <label for="q">Name or capital</label>
        <input type="search" id="q" name="q" value={query} />
        <button type="submit">Search</button>
      </form>
      <p>
        {countries.length === 1 ? "1 country" : `${countries.length} countries`}
      </p>
      <CountryList countries={countries} />
    </Page>
  );
}

/** All about one country. */
export function CountryPage(
  { country, borders }: { country: Country; borders: readonly CountryName[] },
): VNode {
  const facts = {
    "Official name": country.official_name,
    "Capital": country.capital,
    "Region": country.subregion || country.region,
    "Languages": country.languages,
    "Currency": country.currencies,
    "Area": `${country.area.toLocaleString("en")} km²`,
  };
  return (
    <Page title={`${country.name} – Atlas`}>
      <h1>{country.flag} {country.name}</h1>
      <dl>
        {Object.entries(facts).map(([term, fact]) => (
          <div key={term}>
            <dt>{term}</dt>
            <dd>{fact || "–"}</dd>
          </div>
        ))}
      </dl>
      <h2>Neighbours</h2>
      {borders.length > 0
        ? <CountryList countries={borders} />
        : <p>None by land.</p>}
    </Page>
  );
}

/** What an address that does not exist shows. */
export function NotFoundPage(): VNode {
  return (
    <Page title="Not found – Atlas">
      <h1>No such country</h1>
      <p>
        <a href="/">All countries</a>
      </p>
    </Page>
  );
}

function CountryList(
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
