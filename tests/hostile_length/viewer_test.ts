import type { SerializedTrace } from "@quartet/kit/trace";
import { packTraces } from "../../trace/export/pack.ts";
import { compareTrees } from "../../viewer/model/compare.ts";
import { criticalPath } from "../../viewer/model/critical_path.ts";
import { curlCommand } from "../../viewer/model/curl.ts";
import { quote } from "../../viewer/model/curl_quote.ts";
import { flameFrames } from "../../viewer/model/flame.ts";
import { importText } from "../../viewer/model/import_file.ts";
import { createFilter, NO_FILTERS } from "../../viewer/model/filters.ts";
import { routeStats } from "../../viewer/model/listing.ts";
import { statementShape } from "../../trace/export/statement_shape.ts";
import { groupedUnits, listRows } from "../../viewer/model/rows.ts";
import {
  createSearch,
  haystackOf,
  normalizeQuery,
  spanMatches,
} from "../../viewer/model/search.ts";
import { formatSql } from "../../viewer/model/sql.ts";
import { summarize } from "../../viewer/model/summary.ts";
import {
  cutText,
  splitAtMatches,
  splitIntoChunks,
} from "../../viewer/model/text.ts";
import { buildTree } from "../../viewer/model/tree.ts";
import { formatUrlState, parseUrlState } from "../../viewer/model/url_state.ts";
import { listWork, longestRepeats } from "../../viewer/model/work.ts";
import { assertAllLinear, numbered, repeat, TEXTS } from "./texts.ts";
import type { Text } from "./texts.ts";
import { SHAPES, SQL, traceOf } from "./traces.ts";

const ON_TEXT: Readonly<Record<string, (text: string) => unknown>> = {
  "formatSql()": formatSql,
  "statementShape()": statementShape,
  "splitIntoChunks()": splitIntoChunks,
  "cutText()": (text) => cutText(text, text.length / 2),
  "splitAtMatches()": (text) => {
    splitAtMatches(text, text.slice(0, 1).toLowerCase());
    splitAtMatches(text, text.slice(0, text.length / 2).toLowerCase());
    splitAtMatches(text, `${text.slice(0, text.length / 2)}x`.toLowerCase());
  },
  "normalizeQuery()": normalizeQuery,
  "quote()": quote,
  "parseUrlState()": (text) => {
    formatUrlState(parseUrlState(`#trace=${text}`));
    parseUrlState(text);
  },
};

for (const [name, run] of Object.entries(ON_TEXT)) {
  Deno.test(`${name} of long text takes linear time`, () =>
    assertAllLinear(name, [...TEXTS, ...SQL], run));
}

Deno.test("formatSql() takes linear time for the longest kind of statement", () =>
  assertAllLinear("formatSql()", [...TEXTS, ...SQL], formatSql, {
    lengths: [1_900, 19_000],
  }));

/** Shows everything, with repeated spans in one row. */
const OPTIONS = {
  collapsed: new Set<string>(),
  expandedGroups: new Set<string>(),
  hiddenLayers: new Set<never>(),
  grouped: true,
};

const ON_TRACE: Readonly<Record<string, (trace: SerializedTrace) => unknown>> =
  {
    "the tree and its rows": (trace) => {
      const tree = buildTree(trace);
      longestRepeats(listWork(tree));
      listRows(tree, OPTIONS);
      flameFrames(tree);
      criticalPath(tree);
    },
    "the search": (trace) => {
      const search = createSearch();
      const entry = summarize(trace);
      search.add(entry);
      search.matches(entry, trace.spans[0]!.name.slice(0, 5000));
      haystackOf(trace);
      for (const span of trace.spans) spanMatches(span, "nothing");
    },
    "the list": (trace) => {
      const entry = summarize(trace);
      createFilter({ ...NO_FILTERS, path: entry.path.slice(0, 5000) })(entry);
      routeStats([entry, entry]);
    },
    "the comparison": (trace) => {
      const tree = buildTree(trace);
      const other = buildTree({ ...trace, id: "other" });
      compareTrees(tree, other, OPTIONS);
    },
    "curlCommand()": (trace) => {
      for (const span of trace.spans) curlCommand(span, "http://localhost");
    },
    "the file": async (trace) => {
      await importText(JSON.stringify(trace));
      const packed = await packTraces([trace]);
      await importText(
        `<script type="application/json" id="trace-data" data-encoding="packed">${packed}</script>`,
      );
    },
  };

for (const [name, run] of Object.entries(ON_TRACE)) {
  Deno.test(`${name} of long text takes linear time`, () =>
    assertAllLinear(name, TEXTS, run, { prepare: traceOf }));

  for (const [shape, make] of Object.entries(SHAPES)) {
    Deno.test(`${name} of a trace ${shape} takes linear time`, () =>
      assertAllLinear(name, [repeat("a")], run, {
        prepare: (text) => make(text.length),
      }));
  }
}

Deno.test("Groups of siblings take linear time", () =>
  assertAllLinear("siblings", [repeat("a")], groupedUnits, {
    prepare: ({ length }) => {
      const trace = SHAPES["of the same spans"]!(length);
      return buildTree(trace).nodes[0]!.children;
    },
  }));

Deno.test("A long file that isn't a trace takes linear time", () => {
  const start =
    '<script type="application/json" id="trace-data" data-encoding="';
  const texts: Text[] = [
    ...TEXTS,
    repeat(start),
    repeat("a", start),
    repeat('"', start),
    repeat("<", `${start}json">`),
    repeat("[\n"),
    repeat("{}\n"),
    repeat("\n"),
    repeat("A", `${start}packed">`, "</script>"),
    repeat(" ", "", "<"),
    numbered((i) => `{"id":"${i}"}\n`),
  ];
  return assertAllLinear("a file", texts, async (text) => {
    try {
      await importText(text);
    } catch {
      // The file isn't a trace.
    }
  });
});
