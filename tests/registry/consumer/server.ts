/**
 * The app that the dev command serves.
 *
 * @module
 */

import { createApp } from "@quartet/kit/app";
import { traceQuery } from "@quartet/kit/trace";

export default createApp({
  routes: [{
    path: "/cities",
    loader: () => traceQuery("SELECT name FROM city", () => ["Rome"]),
  }],
});
