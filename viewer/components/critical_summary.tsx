import { useLater } from "../dom.ts";
import { sumUpCriticalPath } from "../model/critical_path.ts";
import { formatDuration, formatShare } from "../model/format.ts";
import { cutText } from "../model/text.ts";
import type { TraceTree } from "../model/tree.ts";
import { critical } from "../state/opened.ts";
import { revealSpan } from "../state/selection.ts";
import { Chip, Swatch } from "./controls.tsx";

/** Maximum processes and layers in the legend. */
const MAX_SHARES = 5;

/** Maximum spans in the list. */
const MAX_SPANS = 8;

const NOTHING = { spans: [], shares: [] };

/** The legend of the critical path, and its longest spans. */
export function CriticalSummary({ tree }: { tree: TraceTree }) {
  const path = critical.value;
  const sums = useLater(() => path && sumUpCriticalPath(tree, path), [path]) ??
    NOTHING;
  const total = tree.end - tree.start;
  return (
    <div class="critical-summary" role="group" aria-label="Critical path">
      <span class="path-key" /> Critical path:
      {sums.shares.slice(0, MAX_SHARES).map(({ name, time, longest }) => (
        <Chip
          class="finding"
          key={name}
          title={`${
            formatShare(time, total)
          } of the total. Go to its longest span`}
          onClick={() => revealSpan(longest.index)}
        >
          {cutText(name, 40)} <strong>{formatDuration(time)}</strong>
        </Chip>
      ))}
      <span class="muted">of {formatDuration(total)}</span>
      <details>
        <summary title="Its longest spans">Longest</summary>
        <ol class="menu">
          {sums.spans.slice(0, MAX_SPANS).map(({ node, time }) => (
            <li key={node.index}>
              <Chip
                class=""
                onClick={() =>
                  revealSpan(node.index)}
              >
                <span class="label">
                  <Swatch layer={node.span.layer} />{" "}
                  {cutText(node.span.name, 80)}
                </span>
                <span>
                  {formatDuration(time)}{" "}
                  <span class="muted">{formatShare(time, total)}</span>
                </span>
              </Chip>
            </li>
          ))}
        </ol>
      </details>
    </div>
  );
}
