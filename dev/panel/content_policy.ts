/**
 * Reads content security policies, to know whether they allow the panel. The
 * panel never changes them.
 *
 * @module
 */

/** The sources of each directive of a policy. */
type Policy = ReadonlyMap<string, readonly string[]>;

/** A directive, and those that hold where it's absent. */
const SCRIPT = ["script-src-elem", "script-src", "default-src"];
const CONNECT = ["connect-src", "default-src"];
const FRAME = ["frame-src", "child-src", "default-src"];

/**
 * Decides whether policies allow the panel's script and its socket.
 *
 * @param headers The values of the policy headers, and of meta elements.
 * @param host The page's host, with the port.
 */
export function checkPolicies(headers: readonly string[], host: string) {
  const policies = headers.flatMap((value) => value.split(",")).map(parse);
  for (const policy of policies) {
    const sandbox = policy.get("sandbox");
    const missing = ["allow-scripts", "allow-same-origin"]
      .find((token) => sandbox?.includes(token) === false);
    if (missing !== undefined) return refuse("sandbox", `have ${missing}`);
  }
  const nonces = policies.flatMap((policy) => sourcesOf(policy, SCRIPT))
    .map((source) => NONCE.exec(source)?.[1])
    .filter((nonce) => nonce !== undefined);
  const refusalOf = (nonce: string) =>
    policies.find((policy) => !allowsScript(policy, host, nonce));
  // Without a nonce first: most pages allow their own scripts.
  const nonce = ["", ...nonces].find((nonce) => !refusalOf(nonce));
  if (nonce === undefined) {
    const name = nameOf(refusalOf("")!, SCRIPT);
    return refuse(name, "allow 'self' or a nonce");
  }
  const silent = policies.find((each) => !allows(each, CONNECT, "ws", host));
  if (silent !== undefined) {
    return refuse(nameOf(silent, CONNECT), "allow 'self' for connections");
  }
  return {
    isAllowed: true,
    /** The nonce that the script needs; empty for none. */
    nonce,
    /** Whether the page may frame the viewer. */
    framesViewer: policies.every((each) => allows(each, FRAME, "http", host)),
  } as const;
}

const NONCE = /^'nonce-([\w+/=-]+)'$/i;

function refuse(directive: string, condition: string) {
  const reason =
    `${directive} of its Content-Security-Policy must ${condition}`;
  return { isAllowed: false, reason } as const;
}

function parse(text: string): Policy {
  const policy = new Map<string, string[]>();
  for (const directive of text.split(";")) {
    const [name = "", ...sources] = directive.trim().split(/\s+/);
    const key = name.toLowerCase();
    // The first one counts.
    if (!policy.has(key)) policy.set(key, sources);
  }
  return policy;
}

/** Returns the name of the directive that holds. */
function nameOf(policy: Policy, names: readonly string[]): string {
  return names.find((name) => policy.has(name)) ?? names[0]!;
}

function sourcesOf(
  policy: Policy,
  names: readonly string[],
): readonly string[] {
  return policy.get(nameOf(policy, names)) ?? [];
}

function allowsScript(
  policy: Policy,
  host: string,
  nonce: string,
): boolean {
  const sources = sourcesOf(policy, SCRIPT);
  if (sources.some((source) => NONCE.exec(source)?.[1] === nonce)) return true;
  const isStrict = sources.some((source) => /^'strict-dynamic'$/i.test(source));
  return !isStrict && allows(policy, SCRIPT, "http", host);
}

/**
 * Whether a policy allows a URL of its own origin. It may be too strict with
 * sources that have a path or a wildcard in the host.
 */
function allows(
  policy: Policy,
  names: readonly string[],
  scheme: "http" | "ws",
  host: string,
): boolean {
  const sources = policy.get(nameOf(policy, names));
  const allowed = ["'self'", "*", `${scheme}:`, `${scheme}://${host}`];
  // A source without a scheme has the page's, which isn't the socket's.
  if (scheme === "http") allowed.push(host);
  return sources === undefined ||
    sources.some((source) =>
      allowed.includes(source.toLowerCase().replace(/\/$/, ""))
    );
}

/** The content of a meta element with a policy, in either kind of quotes. */
const META =
  /<meta\s(?=[^<>]*http-equiv\s*=\s*["']?content-security-policy\b)[^<>]*?\bcontent\s*=\s*(?:"([^"<>]*)"|'([^'<>]*)')/gi;

/** Returns the policies in the meta elements of a document's head. */
export function policiesIn(head: string): string[] {
  return Array.from(
    head.matchAll(META),
    ([, double, single]) =>
      (double ?? single)!.replace(/&(?:#0?39|#x27|apos);/gi, "'"),
  );
}
