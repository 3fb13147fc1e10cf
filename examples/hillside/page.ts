import type { Person } from "./people.ts";

/** What the page asks. */
export interface ConsentPage {
  /** The part of the server, such as `GitHub`. */
  readonly title: string;
  readonly people: readonly Person[];
  readonly scope: readonly string[];
  /** Sent back with the answer. */
  readonly hidden: URLSearchParams;
}

/** The page on which a person says who they are, and allows or denies. */
export function consentPage(page: ConsentPage): Response {
  const { title, people, scope, hidden } = page;
  const html = `<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Sign in with ${escape(title)}</title>
<style>
  :root { color-scheme: light dark }
  body { font: 1rem/1.5 system-ui, sans-serif; max-width: 24rem; margin: 4rem auto; padding: 0 1rem }
  button { display: block; width: 100%; margin: .5rem 0; padding: .75rem; font: inherit; text-align: start }
</style>
<h1>${escape(title)}, on this machine</h1>
<p>An application wants to know who you are${
    scope.length === 0 ? "" : ` (${escape(scope.join(", "))})`
  }. Who are you?</p>
<form method="post">
${
    Array.from(
      hidden,
      ([name, value]) =>
        `<input type="hidden" name="${escape(name)}" value="${escape(value)}">`,
    ).join("\n")
  }
${
    people.map(({ login, name }) =>
      `<button name="login" value="${escape(login)}">${
        escape(name ?? login)
      }</button>`
    ).join("\n")
  }
<button name="deny" value="yes">Nobody: do not sign in</button>
</form>
</html>
`;
  return new Response(html, {
    headers: {
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-store",
      "content-security-policy":
        "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    },
  });
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}
