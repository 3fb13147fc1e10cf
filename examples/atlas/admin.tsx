// The admin's pages: edit a country.

import type { DatabaseSync } from "node:sqlite";
import { errorResponse } from "@quartet/kit/app";
import type { Route } from "@quartet/kit/app";
import { requireRoles } from "@quartet/kit/auth";
import type { VNode } from "preact";
import { html, seeOther } from "./answer.tsx";
import { findCountry, setCapital } from "./countries.ts";
import type { Country } from "./countries.ts";
import type { CountryCache } from "./country_cache.ts";
import { Field } from "./fields.tsx";
import { readForm } from "./form.ts";
import { Page } from "./layout.tsx";

const MAX_LENGTH = 100;

export function adminRoutes(
  database: DatabaseSync,
  cache: CountryCache,
): Route[] {
  const find = (code: string) => {
    const country = findCountry(database, code);
    if (country !== undefined) return country;
    throw errorResponse(404, "NOT_FOUND", "No such country");
  };
  return [{
    path: "/admin/countries/:code",
    config: { ...requireRoles(["admin"]) },
    loader({ params, context }) {
      const country = find(params["code"]!);
      return html(context, <EditPage country={country} />);
    },
    async action({ request, params, context }) {
      const country = find(params["code"]!);
      const capital = (await readForm(request))["capital"]?.trim() ?? "";
      if (capital.length > MAX_LENGTH) {
        const problem = `Enter at most ${MAX_LENGTH} characters`;
        const page = <EditPage {...{ country, capital, problem }} />;
        return html(context, page, 422);
      }
      setCapital(database, country.code, capital);
      await cache.revalidate(country.code);
      return seeOther(`/countries/${country.code}`);
    },
  }];
}

function EditPage(
  { country, capital = country.capital, problem }: {
    country: Country;
    capital?: string;
    problem?: string;
  },
): VNode {
  return (
    <Page title={`Edit ${country.name} – Atlas`}>
      <h1>Edit {country.name}</h1>
      <form class="fields" method="post">
        <Field
          label="Capital"
          name="capital"
          value={capital}
          maxLength={MAX_LENGTH}
          problem={problem}
        />
        <button type="submit">Save</button>
      </form>
      <p>
        <a href={`/countries/${country.code}`}>Back to {country.name}</a>
      </p>
    </Page>
  );
}
