import type { ComponentChildren } from "preact";
import { chooseFiles } from "../state/files.ts";
import { connection, reconnect } from "../state/live.ts";
import { dataState } from "../state/traces.ts";
import { Chip } from "./controls.tsx";

interface MessageProps {
  readonly title: string;
  readonly children: ComponentChildren;
  /** The message of the error. */
  readonly detail?: string | undefined;
  /** What the reader can do about it. */
  readonly action?: readonly [label: string, run: () => void];
}

/** A text in place of something that can't be shown. */
export function Message({ title, children, detail, action }: MessageProps) {
  return (
    <>
      <h2>{title}</h2>
      <p>{children}</p>
      {detail !== undefined && <pre>{detail.slice(0, 1000)}</pre>}
      {action && <Chip onClick={action[1]}>{action[0]}</Chip>}
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
      <Message
        title="The traces of this page can't be read"
        detail={data.message}
        action={["Open files", chooseFiles]}
      >
        The file was cut short or changed. Export it again, or open another.
      </Message>
    );
  }
  if (kind === "lost") {
    return (
      <Message
        title="The server doesn't answer"
        action={["Retry now", reconnect]}
      >
        Is it running, and started with{" "}
        <code>--trace</code>? The page tries again by itself.
      </Message>
    );
  }
  if (data.kind === "loading") return <p role="status">Reading traces…</p>;
  if (kind === "file") {
    return (
      <Message title="No traces here yet" action={["Open files", chooseFiles]}>
        Drop files here: pages exported from this viewer, traces as JSON, or
        OTLP/JSON.
      </Message>
    );
  }
  return (
    <Message title="Waiting for the first request">
      Make a request to your app in another tab: it shows up here.
    </Message>
  );
}
