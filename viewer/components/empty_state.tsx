import type { ComponentChildren } from "preact";
import { chooseFiles } from "../state/files.ts";
import { connection, reconnect } from "../state/live.ts";
import { dataState } from "../state/traces.ts";
import { Chip } from "./controls.tsx";

interface MessageProps {
  readonly title: string;
  readonly children: ComponentChildren;
  /** The message of the error. */
  readonly detail?: string;
}

/** A text in place of something that can't be shown. */
export function Message({ title, children, detail }: MessageProps) {
  return (
    <>
      <h2>{title}</h2>
      <p>{children}</p>
      {detail !== undefined && <pre>{detail.slice(0, 1000)}</pre>}
    </>
  );
}

/** A text in place of the list, while there is nothing to list. */
export function EmptyState() {
  return <main class="empty" id="empty">{content()}</main>;
}

function content() {
  const data = dataState.value;
  const { kind } = connection.value;
  if (data.kind === "broken") {
    return (
      <>
        <Message
          title="The traces of this page can't be read"
          detail={data.message}
        >
          The file was cut short or changed. Export it again, or open another.
        </Message>
        <Chip onClick={chooseFiles}>Open files</Chip>
      </>
    );
  }
  if (kind === "lost") {
    return (
      <>
        <Message title="The server doesn't answer">
          Is it running, and started with{" "}
          <code>--trace</code>? The page tries again by itself.
        </Message>
        <Chip onClick={reconnect}>Retry now</Chip>
      </>
    );
  }
  if (data.kind === "loading") return <p role="status">Reading traces…</p>;
  if (kind === "file") {
    return (
      <>
        <Message title="No traces here yet">
          Drop files here: pages exported from this viewer, traces as JSON, or
          OTLP/JSON.
        </Message>
        <Chip onClick={chooseFiles}>Open files</Chip>
      </>
    );
  }
  return (
    <Message title="Waiting for the first request">
      Make a request to your app in another tab: it shows up here.
    </Message>
  );
}
