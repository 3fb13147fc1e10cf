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
  /** A label and an action for the user. */
  readonly action?: readonly [label: string, run: () => void];
}

/** A text instead of something that can't be shown. */
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

/** A text instead of an empty list. */
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
        The file is incomplete or was changed. Export it again, or open another
        one.
      </Message>
    );
  }
  if (kind === "lost") {
    return (
      <Message
        title="The server doesn't answer"
        action={["Retry now", reconnect]}
      >
        Check that it is running, and was started with{" "}
        <code>--trace</code>. The page tries again automatically.
      </Message>
    );
  }
  if (data.kind === "loading") return <p role="status">Reading traces…</p>;
  if (kind === "file") {
    return (
      <Message title="No traces here yet" action={["Open files", chooseFiles]}>
        Drop files here: exported pages, traces as JSON, or OTLP/JSON.
      </Message>
    );
  }
  return (
    <Message title="Waiting for the first request">
      Make a request to your app in another tab. It appears here.
    </Message>
  );
}
