// The layout of all pages.

import { createContext } from "preact";
import type { ComponentChildren, VNode } from "preact";
import { useContext } from "preact/hooks";

/** The visitor of a page. */
export interface Visitor {
  /** The name of the user. `undefined`: not signed in. */
  readonly name: string | undefined;
  /** The path of the sign-in page. Signing in leads back to this page. */
  readonly signInPath: string;
}

/** The visitor of the page that is being rendered. */
export const VisitorContext = createContext<Visitor>({
  name: undefined,
  signInPath: "/sign-in",
});

const ICON = "data:image/svg+xml," + encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><text y="13" font-size="14">🌍</text></svg>',
);

/** A page with the header of Atlas. */
export function Page(
  { title, children }: { title: string; children: ComponentChildren },
): VNode {
  const { name, signInPath } = useContext(VisitorContext);
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{title}</title>
        <link rel="icon" href={ICON} />
        <link rel="stylesheet" href="/style.css" />
        <script type="module" src="/script.js" />
      </head>
      <body>
        <header>
          <a href="/">Atlas</a>
          {name === undefined
            ? <a href={signInPath}>Sign in</a>
            : <a href="/account">{name}</a>}
        </header>
        <main>{children}</main>
      </body>
    </html>
  );
}

/** A page with one message and a link to the start page. */
export function Message(
  { title, children }: { title: string; children?: ComponentChildren },
): VNode {
  return (
    <Page title={`${title} – Atlas`}>
      <h1>{title}</h1>
      {children && <p>{children}</p>}
      <p>
        <a href="/">All countries</a>
      </p>
    </Page>
  );
}
