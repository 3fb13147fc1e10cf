import { chooseFiles } from "../state/files.ts";
import { connection, reconnect } from "../state/live.ts";
import { dataState } from "../state/traces.ts";
import { Chip } from "./controls.tsx";

/** A text instead of an empty list. */
export function EmptyState() {
  return <main class="empty" id="empty">{content()}</main>;
}

function content() {
  const data = dataState.value;
  const { kind } = connection.value;
  if (data.kind === "broken") {
    return (
      <>
        <h2>The traces of this page can't be read</h2>
        <p>
          The file is incomplete or was changed. Export it again, or open
          another one.
        </p>
        <pre>{data.message.slice(0, 1000)}</pre>
        <Chip onClick={chooseFiles}>Open files</Chip>
      </>
    );
  }
  if (kind === "lost") {
    return (
      <>
        <h2>The server doesn't answer</h2>
        <p>
          Check that it is running, and was started with{" "}
          <code>--trace</code>. The page tries again automatically.
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
        <p>Drop files here: exported pages, traces as JSON, or OTLP/JSON.</p>
        <Chip onClick={chooseFiles}>Open files</Chip>
      </>
    );
  }
  return (
    <>
      <h2>Waiting for the first request</h2>
      <p>Make a request to your app in another tab. It appears here.</p>
    </>
  );
}
