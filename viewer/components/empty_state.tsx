import { chooseFiles } from "../state/files.ts";
import { connection, reconnect } from "../state/live.ts";
import { dataState } from "../state/traces.ts";
import { Chip } from "./controls.tsx";

/** What stands in place of the list while there is nothing to list. */
export function EmptyState() {
  return <main class="empty" id="empty">{content()}</main>;
}

function content() {
  const data = dataState.value;
  if (data.kind === "broken") {
    return (
      <>
        <h2>The traces of this page can't be read</h2>
        <p>
          The file was cut short or changed. Export it again, or open another.
        </p>
        <pre>{data.message.slice(0, 1000)}</pre>
        <OpenFiles />
      </>
    );
  }
  const { kind } = connection.value;
  if (kind === "lost") {
    return (
      <>
        <h2>The server doesn't answer</h2>
        <p>
          Is it running, and started with{" "}
          <code>--trace</code>? The page tries again by itself.
        </p>
        <Chip onClick={reconnect}>Retry now</Chip>
      </>
    );
  }
  if (data.kind === "loading") return <p role="status">Reading traces…</p>;
  if (kind === "file") {
    return (
      <>
        <h2>No traces here yet</h2>
        <p>
          Drop files here: pages exported from this viewer, traces as JSON, or
          OTLP/JSON.
        </p>
        <OpenFiles />
      </>
    );
  }
  return (
    <>
      <h2>Waiting for the first request</h2>
      <p>
        Make a request to your app in another tab: it shows up here.
      </p>
    </>
  );
}

function OpenFiles() {
  return <Chip onClick={chooseFiles}>Open files</Chip>;
}
