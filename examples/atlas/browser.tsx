/// <reference lib="dom" />
// What runs in the browser: it brings the search to life, and traces the
// browser's half of a request if the server traces its own.

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
