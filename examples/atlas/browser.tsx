/// <reference lib="dom" />
// The entry of the page's script. It hydrates the islands of a page, and starts
// tracing in the browser.

import { hydrate } from "preact";
import type { VNode } from "preact";
import { initClientTracing } from "@quartet/kit/trace/client";
import { Search } from "./search.tsx";
import { LiveStar } from "./star.tsx";

const tracer = initClientTracing();

/** Each island, by its name, from the props that the server sends. */
const islands: Record<string, (props: string) => VNode> = {
  Search: (props) => <Search {...JSON.parse(props)} />,
  LiveStar: (props) => <LiveStar {...JSON.parse(props)} />,
};

for (const element of document.querySelectorAll<HTMLElement>("[data-island]")) {
  const name = element.dataset.island!;
  const island = islands[name]!;
  tracer.withSpan(`hydrate:${name}`, "islands", () => {
    hydrate(island(element.dataset.props!), element);
  });
}
