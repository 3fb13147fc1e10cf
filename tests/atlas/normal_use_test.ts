/** Normal use of Atlas, which must not lead to a finding. */

import { assertEquals } from "@std/assert";
import { createTracer } from "@quartet/kit/trace";
import { startCaches } from "../../dev/cache/start.ts";
import { createFindings } from "../../dev/findings/findings.ts";
import { startLocations } from "../../dev/locations/start.ts";
import { waitForCauses } from "../dev/wait_for_causes.ts";
import { emailOf, PASSWORD, serveAtlas } from "./serve_atlas.ts";

Deno.test("The dev command finds nothing wrong with Atlas in normal use", async () => {
  const tracer = createTracer({ maxSpansPerTrace: 2_000 });
  const parts = [startCaches(tracer), startLocations(tracer)];
  const findings = createFindings(tracer, 0);
  {
    await using atlas = serveAtlas({ tracer });
    const admin = await atlas.signUp("Ada");
    const reader = await atlas.signUp("Bob");
    const guest = atlas.visitor();
    for (const visitor of [admin, reader, guest]) {
      for (const query of ["", "?q=", "?q=land", "?q=guinea"]) {
        await visitor.open(`/${query}`);
        await visitor.open(`/api/countries${query}`);
      }
      for (const code of ["CHE", "FRA", "che", "DEU", "ZZZ", "ZZZ"]) {
        await visitor.open(`/countries/${code}`);
      }
      for (const path of ["/account", "/sign-in", "/sign-up", "/nothing"]) {
        await visitor.open(path);
      }
    }
    // Each visitor reads a page again after an edit.
    for (const capital of ["A", "B", "C", "D", "E", "F", "G"]) {
      await admin.submit("/admin/countries/CHE", { capital });
      await guest.open("/countries/CHE");
    }
    for (const code of ["CHE", "FRA", "DEU", "ITA", "AUT", "LIE"]) {
      await reader.rpc.favourites.add.mutate({ code });
    }
    await Promise.all([
      reader.rpc.favourites.list.query(),
      reader.rpc.countries.search.query({}),
      reader.rpc.countries.byCode.query({ code: "CHE" }),
      reader.rpc.countries.byCode.query({ code: "FRA" }),
    ]);
    await guest.rpc.favourites.list.query().catch(() => {});
    await guest.rpc.countries.byCode.query({ code: "ZZZ" }).catch(() => {});
    for (const password of ["wrong", PASSWORD]) {
      await guest.submit("/sign-in", { email: emailOf("Bob"), password });
    }
    await guest.signInWithHillside("grace");
    await guest.submit("/sign-out");
    await reader.submit("/sign-out-everywhere");
    // Many requests at the same time take long, which isn't the route's fault.
    for (let i = 0; i < 25; i++) await admin.open("/");
    await Promise.all(Array.from({ length: 60 }, () => admin.open("/")));
  }
  const list = await waitForCauses(tracer, findings);
  findings.close();
  for (const part of parts) part.close();
  assertEquals(list, []);
});
