/**
 * Random combinations of the kit's modules, and random requests to them.
 *
 * @module
 */

import * as fc from "fast-check";

/** The layers around an application, from outermost to innermost. */
export interface StackInput {
  /** The transport to the outermost host. */
  readonly transport: "call" | "Deno" | "Node";
  readonly layers: readonly LayerInput[];
  /** The order of the application's own modules. */
  readonly modules: readonly ("auth" | "cache" | "trace")[];
  readonly guards: GuardsInput;
  readonly visits: readonly Visit[];
}

type Module = StackInput["modules"][number];

/** A host around another one. */
export interface LayerInput {
  readonly host: (typeof HOSTS)[number];
  readonly parts: readonly (typeof PARTS)[number][];
}

/** The way guard fragments are copied into a config. */
export interface GuardsInput {
  readonly copy: "spread" | "assign" | "entries";
  readonly isReversed: boolean;
}

/** One request, or several concurrent ones. */
export interface Visit {
  readonly who: "ada" | "bob" | "anonymous";
  readonly by: "cookie" | "bearer";
  readonly path: (typeof PATHS)[number];
  readonly method: "GET" | "HEAD" | "POST";
  readonly cart: "apples" | "pears" | undefined;
  /** Whether the next visit begins before this one ends. */
  readonly isHasty: boolean;
}

/** The hosts that a layer can have. */
export const HOSTS = [
  "app",
  "route",
  "copying app",
  "withPlugins",
  "toMiddleware",
  "Hono",
  "Hono mount",
  "Oak",
] as const;

/** The parts that a layer can have between its host and the next layer. */
export const PARTS = [
  "auth",
  "trace",
  "cache",
  "lasting cache",
  "asks",
  "rebuilds",
  "spanless",
  "guard",
] as const;

export const PATHS = [
  "/account",
  "/admin",
  "/authenticate",
  "/cart",
  "/fail",
  "/hello",
  "/late",
  "/menu",
  "/news",
  "/posts",
  "/public",
  "/self",
  "/wrong",
] as const;

const layer: fc.Arbitrary<LayerInput> = fc.record({
  host: fc.constantFrom(...HOSTS),
  parts: fc.uniqueArray(fc.constantFrom(...PARTS), { maxLength: 4 }),
});

const visit: fc.Arbitrary<Visit> = fc.record({
  who: fc.constantFrom("ada", "bob", "anonymous"),
  by: fc.constantFrom("cookie", "cookie", "cookie", "bearer"),
  path: fc.constantFrom(...PATHS),
  method: fc.constantFrom("GET", "GET", "GET", "GET", "HEAD", "POST"),
  cart: fc.constantFrom(undefined, undefined, "apples", "pears"),
  isHasty: fc.boolean(),
});

/** Only a few pages, so that visitors share them. */
const visits = fc.uniqueArray(fc.constantFrom(...PATHS), {
  minLength: 1,
  maxLength: 3,
}).chain((paths) =>
  fc.array(
    visit.map((visit) => ({
      ...visit,
      path: paths[PATHS.indexOf(visit.path) % paths.length]!,
    })),
    { minLength: 2, maxLength: 16 },
  )
);

/** A complete stack with its visits. */
export const stackInput: fc.Arbitrary<StackInput> = fc.record({
  transport: fc.constantFrom(
    ...Array<"call">(14).fill("call"),
    "Deno",
    "Node",
  ),
  layers: fc.array(layer, { maxLength: 3 }),
  modules: fc.shuffledSubarray<Module>(["auth", "cache", "trace"])
    .map((modules) =>
      modules.includes("auth") ? modules : ["auth", ...modules]
    ),
  guards: fc.record({
    copy: fc.constantFrom("spread", "assign", "entries"),
    isReversed: fc.boolean(),
  }),
  visits,
});
