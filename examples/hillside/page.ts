import type { Person } from "./people.ts";

/** The content of the consent page. */
export interface ConsentPage {
  /** The name of the provider, such as `GitHub`. */
  readonly title: string;
  readonly people: readonly Person[];
  readonly scope: readonly string[];
  /** Parameters that the form sends back. */
  readonly hidden: URLSearchParams;
}

/** Creates the page where a person chooses an account, or cancels. */
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
<h1>Sign in with ${escape(title)}</h1>
<p>This is a demo server on this machine. An application wants to read your
profile${
    scope.length === 0 ? "" : ` (${escape(scope.join(", "))})`
  }. Choose an account:</p>
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
<button name="deny" value="yes">Cancel</button>
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
