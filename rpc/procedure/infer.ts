import type { Delivered, inferInput } from "./calls.ts";
import type { Router, Wire } from "../server/router.ts";

/** What callers pass, for each procedure of a router. */
export type inferRouterInputs<R> = R extends { readonly _def: infer Def } ? {
    readonly [K in keyof Def]: Def[K] extends { readonly kind: unknown }
      ? inferInput<Def[K]>
      : inferRouterInputs<AsRouter<Def[K]>>;
  }
  : never;

/**
 * What a client gets, for each procedure of a router: what JSON makes of its
 * output, or the output itself if the router has a transformer.
 */
export type inferRouterOutputs<R> = R extends Router<infer Def, infer As>
  ? DefOutputs<Def, As>
  : never;

/** What a client gets, for each procedure of a definition. */
export type DefOutputs<Def, As extends Wire> = {
  readonly [K in keyof Def]: Def[K] extends { readonly kind: unknown }
    ? Delivered<Def[K], As>
    : Def[K] extends { readonly _def: infer Inner } ? DefOutputs<Inner, As>
    : DefOutputs<Def[K], As>;
};

/** A router, or a definition in the form of one. */
export type AsRouter<T> = T extends { readonly _def: unknown } ? T
  : { readonly _def: T };
