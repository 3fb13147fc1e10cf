/// <reference lib="dom" />
// What runs in the browser when a page's request was traced: it traces the
// browser's half, and brings the search to life.

import { hydrate } from "preact";
import { initClientTracing } from "@quartet/kit/trace/client";
import { Search } from "./search.tsx";

const tracer = initClientTracing();
const element = document.getElementById("search");

if (element !== null) {
  const props = JSON.parse(element.dataset.props!);
  tracer.withSpan("hydrate:Search", "islands", () => {
    hydrate(<Search {...props} />, element);
  });
}
