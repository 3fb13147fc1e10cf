// The pages that show countries.

import type { ComponentType, VNode } from "preact";
import { useContext } from "preact/hooks";
import type { CountryFacts } from "./country_cache.ts";
import type { CountryName } from "./countries.ts";
import { Message, Page, VisitorContext } from "./layout.tsx";
import { CountryLink, Search } from "./search.tsx";
import type { SearchProps } from "./search.tsx";
import { LiveStar } from "./star.tsx";

/** The start page: the search and the list of countries. */
export function ListPage(props: SearchProps): VNode {
  return (
    <Page title="Atlas">
      {props.favourites === null && <SignInTo>keep favourites</SignInTo>}
      <Island name="Search" of={Search} props={props} />
    </Page>
  );
}

/** A link to the sign-in page, in place of something for users only. */
function SignInTo({ children }: { children: string }): VNode {
  const { signInPath } = useContext(VisitorContext);
  return (
    <p>
      <a href={signInPath}>Sign in</a> to {children}.
    </p>
  );
}

/** A part of a page that the browser hydrates. */
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

export interface CountryPageProps extends CountryFacts {
  /** `null` if nobody is signed in. */
  readonly favourites: readonly CountryName[] | null;
  readonly canEdit: boolean;
}

export function CountryPage(
  { country, borders, favourites, canEdit }: CountryPageProps,
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
    <Page title={`${name} – Atlas`}>
      <h1>{country.flag} {name}</h1>
      {favourites === null
        ? <SignInTo>{`mark ${name} as a favourite`}</SignInTo>
        : (
          <Island
            name="LiveStar"
            of={LiveStar}
            props={{ country: { code, name }, favourites }}
          />
        )}
      <dl>
        {Object.entries(facts).map(([term, fact]) => (
          <div key={term}>
            <dt>{term}</dt>
            <dd>{fact || "–"}</dd>
          </div>
        ))}
      </dl>
      {canEdit && (
        <p>
          <a href={`/admin/countries/${code}`}>Edit {name}</a>
        </p>
      )}
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
        : <p>No land borders.</p>}
    </Page>
  );
}

/** The page for an unknown country code. */
export function NoCountryPage(): VNode {
  return <Message title="No such country" />;
}
