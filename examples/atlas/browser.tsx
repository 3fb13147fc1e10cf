/// <reference lib="dom" />
// The entry of the page's script. It hydrates the islands of a page, and starts
// tracing in the browser.

import { hydrate } from "preact";
import type { ComponentType } from "preact";
import { initClientTracing } from "@quartet/kit/trace/client";
import { Search } from "./search.tsx";
import { LiveStar } from "./star.tsx";

const tracer = initClientTracing();

// deno-lint-ignore no-explicit-any -- the server sends the props of each island
const islands: Record<string, ComponentType<any>> = { Search, LiveStar };

for (const element of document.querySelectorAll<HTMLElement>("[data-island]")) {
  const name = element.dataset.island!;
  const Island = islands[name]!;
  const props = JSON.parse(element.dataset.props!);
  tracer.withSpan(`hydrate:${name}`, "islands", () => {
    hydrate(<Island {...props} />, element);
  });
}
