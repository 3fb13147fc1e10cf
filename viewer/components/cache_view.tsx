import type { ListedKey, ListedTag } from "../../trace/export/cache_listing.ts";
import { formatPlural, formatShare } from "../model/format.ts";
import { cutText } from "../model/text.ts";
import { cacheListing, readCache } from "../state/dev_command.ts";
import { hashOfSpan } from "../state/url_keys.ts";
import { Chip } from "./controls.tsx";
import { Table, type TableColumn } from "./table.tsx";

const KEY_COLUMNS: readonly TableColumn<ListedKey>[] = [
  ["Key", ({ key }) => cutText(key, 120)],
  ["State", ({ state }) => state],
  ["Hits", hitsText],
  ["KiB", ({ bytes }) => bytes !== undefined && (bytes / 1024).toFixed(1)],
  ["Used by", ({ dependants }) => cutText(dependants.join(", "), 80)],
  ["Tags", ({ tags }) => cutText(tags.join(", "), 80)],
  ["Last call", ({ reason }) => cutText(reason, 200)],
];

function hitsText({ hits, stale, misses }: ListedKey) {
  const calls = hits + stale + misses;
  return calls > 0 && `${formatShare((hits + stale) / calls)} of ${calls}`;
}

const TAG_COLUMNS: readonly TableColumn<ListedTag>[] = [
  ["Tag", ({ tag }) => cutText(tag, 120)],
  ["Keys", ({ keys }) => keys],
  [
    "Invalidated",
    ({ invalidated, cause }) =>
      cause
        ? <a class="link" href={hashOfSpan(cause)}>{invalidated}</a>
        : invalidated,
  ],
];

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
      <Table columns={KEY_COLUMNS} items={keys}>
        {formatPlural(keys.length + more, "key")} of traced requests{" "}
        <Chip class="link" onClick={readCache}>Refresh</Chip>
      </Table>
      <Table columns={TAG_COLUMNS} items={tags}>
        {formatPlural(tags.length, "tag")}
      </Table>
    </div>
  );
}
