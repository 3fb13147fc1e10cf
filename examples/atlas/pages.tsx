// The pages of Atlas.

import type { ComponentChildren, ComponentType, VNode } from "preact";
import { getActiveSpan } from "@quartet/kit/trace";
import type { Country, CountryName } from "./countries.ts";
import { CountryLink, Search } from "./search.tsx";
import type { SearchProps } from "./search.tsx";
import { LiveStar } from "./star.tsx";

const ICON = "data:image/svg+xml," + encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><text y="13" font-size="14">🌍</text></svg>',
);

function Page(
  { title, children }: { title: string; children: ComponentChildren },
): VNode {
  // If the request is traced, the browser's half of it is traced as well.
  const traceId = getActiveSpan()?.traceId;
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{title}</title>
        <link rel="icon" href={ICON} />
        <link rel="stylesheet" href="/style.css" />
        {traceId && <meta name="app-trace-id" content={traceId} />}
        <script type="module" src="/script.js" />
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
export function ListPage(props: SearchProps): VNode {
  return (
    <Page title="Atlas">
      <Island name="Search" of={Search} props={props} />
    </Page>
  );
}

/** A part of a page that comes to life in the browser. */
function Island<Props extends object>(
  { name, of: Component, props }: {
    name: string;
    of: ComponentType<Props>;
    props: Props;
  },
): VNode {
  return (
    <div data-island={name} data-props={JSON.stringify(props)}>
      <Component {...props} />
    </div>
  );
}

/** All about one country. */
export function CountryPage(
  { country, borders, favourites }: {
    country: Country;
    borders: readonly CountryName[];
    favourites: readonly CountryName[];
  },
): VNode {
  const { code, name } = country;
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
      <Island
        name="LiveStar"
        of={LiveStar}
        props={{ country: { code, name }, favourites }}
      />
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
        ? (
          <ul>
            {borders.map((border) => (
              <li key={border.code}>
                <CountryLink {...border} />
              </li>
            ))}
          </ul>
        )
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
