import type { ComponentChildren } from "preact";
import type { ListedKey, ListedTag } from "../../trace/export/cache_listing.ts";
import { formatPlural, formatShare } from "../model/format.ts";
import { cutText } from "../model/text.ts";
import { cacheListing, readCache } from "../state/dev_command.ts";
import { hashOfSpan } from "../state/url_keys.ts";
import { Chip } from "./controls.tsx";

const KEY_HEAD = [
  "Key",
  "State",
  "Hits",
  "KiB",
  "Used by",
  "Tags",
  "Last call",
];
const TAG_HEAD = ["Tag", "Keys", "Invalidated"];

/** The keys and tags of the server's caches. */
export function CacheView() {
  const { keys = [], tags = [], more = 0 } = cacheListing.value ?? {};
  return (
    <div
      class="route-spans cache-view"
      role="region"
      aria-label="Cache"
      data-place="list"
      data-own-keys
      tabIndex={0}
    >
      <Table head={KEY_HEAD} rows={keys.map(keyCells)}>
        {formatPlural(keys.length + more, "key")} of traced requests{" "}
        <Chip class="link" onClick={readCache}>Refresh</Chip>
      </Table>
      <Table head={TAG_HEAD} rows={tags.map(tagCells)}>
        {formatPlural(tags.length, "tag")}
      </Table>
    </div>
  );
}

interface TableProps {
  readonly head: readonly string[];
  readonly rows: readonly ComponentChildren[][];
  readonly children: ComponentChildren;
}

function Table({ head, rows, children }: TableProps) {
  return (
    <table class="compare-layers">
      <caption>{children}</caption>
      <thead>
        <tr>{head.map((name) => <th scope="col" key={name}>{name}</th>)}</tr>
      </thead>
      <tbody>
        {rows.map(([first, ...cells], i) => (
          <tr key={i}>
            <th scope="row">{first}</th>
            {cells.map((cell, i) => <td key={i}>{cell}</td>)}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function keyCells(
  { key, state, hits, stale, misses, bytes, dependants, tags, reason }:
    ListedKey,
): ComponentChildren[] {
  const calls = hits + stale + misses;
  return [
    cutText(key, 120),
    state,
    calls > 0 && `${formatShare((hits + stale) / calls)} of ${calls}`,
    bytes !== undefined && (bytes / 1024).toFixed(1),
    cutText(dependants.join(", "), 80),
    cutText(tags.join(", "), 80),
    cutText(reason, 200),
  ];
}

function tagCells(
  { tag, keys, invalidated, cause }: ListedTag,
): ComponentChildren[] {
  const link = cause && (
    <a class="link" href={hashOfSpan(cause)}>{invalidated}</a>
  );
  return [cutText(tag, 120), keys, link ?? invalidated];
}
