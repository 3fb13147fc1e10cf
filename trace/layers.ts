import type { Layer } from "./types.ts";

/** All layers, in the order in which a request meets them. */
export const LAYERS: readonly Layer[] = [
  "request",
  "routing",
  "data",
  "forms",
  "signals",
  "rpc",
  "database",
  "auth",
  "islands",
  "build",
  "errors",
  "custom",
];
