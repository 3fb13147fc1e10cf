/// <reference lib="dom" />
// What runs in the browser: it brings the islands of a page to life, and
// traces the browser's half of a request if the server traces its own.

import { hydrate } from "preact";
import type { ComponentType } from "preact";
import { initClientTracing } from "@quartet/kit/trace/client";
import { Search } from "./search.tsx";
import { LiveStar } from "./star.tsx";

const tracer = initClientTracing();

// deno-lint-ignore no-explicit-any -- each has the props that the server sent
const islands: Record<string, ComponentType<any>> = { Search, LiveStar };

for (const element of document.querySelectorAll<HTMLElement>("[data-island]")) {
  const name = element.dataset.island!;
  const Island = islands[name]!;
  const props = JSON.parse(element.dataset.props!);
  tracer.withSpan(`hydrate:${name}`, "islands", () => {
    hydrate(<Island {...props} />, element);
  });
}
