/** The roots of a browser's traces: what the user did. */

import { assert, assertEquals, assertFalse, assertGreater } from "@std/assert";
import type { Route } from "@quartet/kit/app";
import { shareBrowser, type TestPage } from "./browser.ts";
import {
  type ClientApp,
  run,
  type SentSpan,
  sentSpan,
  startClientApp,
  until,
} from "./client_page.ts";

const browser = shareBrowser();

const CONTROLS = `<script>addEventListener("DOMContentLoaded", () => {
  document.body.innerHTML = \`
    <button id="save">Save <b>all</b></button>
    <button aria-label="Close" id="x">×</button>
    <button id="long">${"long ".repeat(20)}</button>
    <a href="#top" id="link">Ada Lovelace</a>
    <form id="search"><input id="q" value="typed" aria-describedby="q"></form>
    <div id="note" contenteditable><button id="in">secret</button></div>
    <button id="around"><i contenteditable>secret</i></button>\`;
});</script>`;

interface Setup {
  readonly routes?: readonly Route[];
  readonly head?: string;
  readonly traced?: boolean;
  /** Whether the page load has ended before the test begins. Default: `true`. */
  readonly idle?: boolean;
}

function testPage(
  name: string,
  fn: (app: ClientApp, view: TestPage) => Promise<void>,
  { idle = true, ...options }: Setup = {},
): void {
  Deno.test(`Roots of a browser: ${name}`, async () => {
    await using app = await startClientApp({ head: CONTROLS, ...options });
    await using view = await browser.newPage();
    await view.page.goto(app.url);
    if (idle) await sentSpan(app, "page:load");
    await fn(app, view);
  });
}

/** Makes the page fetch when an event arrives. */
const fetchOn = (type: string, path = "/echo") =>
  `addEventListener("${type}", (event) => {
     event.preventDefault();
     fetch("${path}");
   }, { once: true });`;

function childrenOf({ sent }: ClientApp, root: SentSpan): string[] {
  return sent.filter(({ parentId }) => parentId === root.id)
    .map(({ name }) => name)
    // A slow machine has them.
    .filter((name) => name !== "longtask");
}

testPage("a page load is announced while it runs", async (app) => {
  const page = await sentSpan(app, "page:load");
  const [first, ...others] = app.sent.filter(({ id }) => id === page.id);
  assertEquals(others.length, 1, "announced once, ended once");
  assertEquals(first!.attributes["app.open"], true);
  assertEquals(first!.startTime, first!.endTime);
  assertEquals(page.layer, "request");
  assertEquals(page.parentId, null);
  const { "app.action": action, "url.path": path, "app.link": link } =
    page.attributes;
  const request = app.tracer.getTrace(page.traceId)!.spans.values()
    .find(({ name }) => name === "GET /")!;
  assertEquals([action, path], ["load", "/"]);
  assertEquals(link, `00-${request.traceId}-${request.id}-01`);
  assertEquals(request.traceId, page.traceId);
}, { idle: false });

/** Keeps the page busy just after its load. */
const BUSY = `<script>addEventListener("load", () => setTimeout(() => {
  const end = performance.now() + 120;
  while (performance.now() < end);
}));</script>`;

for (const [what, head] of [["", ""], [" with a long task", BUSY]] as const) {
  testPage(
    `the idle second isn't part of a page load${what}`,
    async (app, view) => {
      const page = await sentSpan(app, "page:load");
      const last = await run<number>(
        view,
        `const [navigation] = performance.getEntriesByType("navigation");
     const resources = performance.getEntriesByType("resource")
       .filter(({ name }) => !name.includes("/__app/"));
     return Math.max(navigation.loadEventEnd, ...resources.map((x) => x.responseEnd));`,
      );
      const duration = page.endTime - page.startTime;
      const tasks = app.sent.filter(({ name }) => name === "longtask")
        .map(({ endTime }) => endTime - page.startTime);
      if (head !== "") assertGreater(Math.max(...tasks), last);
      const end = Math.max(last, ...tasks);
      assert(
        Math.abs(duration - end) <= end * 0.05,
        `${duration} ms are within 5 % of ${end} ms`,
      );
    },
    { idle: false, head: CONTROLS + head },
  );
}

/** An event on an element, and the action and the name of its root. */
const ACTIONS = [
  ["#save", "click", "click", 'click button "Save all"'],
  ["#save b", "click", "click", 'click button "Save all"'],
  ["#x", "click", "click", 'click button "Close"'],
  [
    "#long",
    "click",
    "click",
    `click button "${"long ".repeat(20).slice(0, 40)}"`,
  ],
  ["#link", "click", "click", "click a#link"],
  ["#note", "click", "click", "click div#note"],
  ["#in", "click", "click", "click button#in"],
  ["#around", "click", "click", "click button#around"],
  ["#q", "keydown", "key", "key input#q"],
  ["#q", "submit", "submit", "submit form#search"],
] as const;

Deno.test("Roots of a browser: a request after a user's action begins a root", async () => {
  // In tabs side by side, because each waits for idle seconds.
  await Promise.all(
    ACTIONS.map(async ([selector, event, action, name]) => {
      await using app = await startClientApp({ head: CONTROLS });
      await using view = await browser.newPage();
      await view.page.goto(app.url);
      const page = await sentSpan(app, "page:load");
      await run(view, fetchOn(event));
      if (event === "click") await view.page.locator(selector).click();
      else await view.page.press(selector, event === "submit" ? "Enter" : "a");
      const root = await sentSpan(app, name);
      assertEquals(root.attributes["app.action"], action);
      assertEquals(root.attributes["url.path"], "/");
      assertEquals(root.parentId, null);
      assertEquals(childrenOf(app, root), ["fetch GET /echo"], selector);
      assert(root.traceId !== page.traceId);
      const text = JSON.stringify(app.sent);
      assertFalse(text.includes("secret") || text.includes("typed"));
    }),
  );
});

const FIELDS = ["id", "closest", "getAttribute", "matches", "ownerDocument"];

testPage("a form's fields don't hide what it is", async (app, view) => {
  await run(
    view,
    `document.body.innerHTML = \`<form id="search" style="padding: 50px">${
      FIELDS.map((name) => `<input type="hidden" name="${name}" value="typed">`)
        .join("")
    }<input id="q" name="q"></form>\`;
     ${fetchOn("submit")}
     document.querySelector("#q").focus();`,
  );
  await view.page.keyboard.press("Enter");
  await sentSpan(app, "submit form#search");
  await run(view, fetchOn("click"));
  await view.page.mouse.click(20, 20);
  await sentSpan(app, "click form#search");
  assertEquals(view.errors, []);
});

testPage("an interaction without a request isn't sent", async (app, view) => {
  await view.page.click("#save");
  await view.page.press("#q", "a");
  await view.page.click("#x");
  await run(
    view,
    `kit.getClientTracer().startSpan("own").end();
     await new Promise((resolve) => setTimeout(resolve, 1500));
     await fetch("/echo");`,
  );
  const own = await sentSpan(app, "own");
  const request = await sentSpan(app, "fetch GET /echo");
  assertEquals([own.parentId, request.parentId], [null, null]);
  assertFalse(app.sent.some(({ name }) => /^(click|key)/.test(name)));
});

testPage("a click of a script isn't an interaction", async (app, view) => {
  await run(
    view,
    `${fetchOn("click")} document.querySelector("#save").click()`,
  );
  const request = await sentSpan(app, "fetch GET /echo");
  assertEquals(request.parentId, null);
});

/** The answers of two routes wait for these. */
const newest = [
  Promise.withResolvers<void>(),
  Promise.withResolvers<void>(),
] as const;

testPage(
  "the newest action takes the requests, and the older one continues",
  async (app, view) => {
    const requested = (path: string) =>
      until(
        `the request ${path}`,
        () => app.requests.some(({ url }) => url.endsWith(path)),
      );
    const [slow, other] = newest;
    await run(
      view,
      `document.querySelector("#save").onclick = async () => {
         await fetch("/slow");
         await fetch("/echo?late");
       };
       document.querySelector("#x").onclick = () => fetch("/other");`,
    );
    await view.page.click("#save");
    await requested("/slow");
    await view.page.click("#x");
    await requested("/other");
    slow.resolve();
    await requested("/echo?late");
    other.resolve();
    const save = await sentSpan(app, 'click button "Save all"');
    const close = await sentSpan(app, 'click button "Close"');
    assertEquals(childrenOf(app, save), ["fetch GET /slow"]);
    assertEquals(childrenOf(app, close).sort(), [
      "fetch GET /echo",
      "fetch GET /other",
    ]);
    const first = await sentSpan(app, "fetch GET /slow");
    assert(save.endTime >= first.endTime);
  },
  {
    routes: ["/slow", "/other"].map((path, i) => ({
      path,
      handler: async () => {
        await newest[i]!.promise;
        return new Response(path);
      },
    })),
  },
);

testPage(
  "pushState begins a navigation, also without a request",
  async (app, view) => {
    await run(
      view,
      `history.pushState(null, "", "/cart?coupon=secret");
       kit.getClientTracer().withSpan("render", "custom", () => {});`,
    );
    const root = await sentSpan(app, "navigation /cart");
    const { "app.clock.error": clockError, ...attributes } = root.attributes;
    assertEquals(attributes, {
      "app.action": "navigation",
      "url.path": "/cart",
    });
    assertEquals(typeof clockError, "number");
    assertEquals(childrenOf(app, root), ["render"]);
    const page = await sentSpan(app, "page:load");
    assert(root.traceId !== page.traceId);
    await run(
      view,
      `history.pushState(null, "", "/cart?page=2"); await fetch("/echo?2")`,
    );
    await until("another navigation", () =>
      new Set(
        app.sent.filter(({ name }) => name === "navigation /cart")
          .map(({ traceId }) => traceId),
      ).size === 2);
    await run(
      view,
      `history.back();
       await new Promise((resolve) => addEventListener("popstate", resolve));
       await fetch("/echo?3");`,
    );
    await until("the way back", () =>
      new Set(
        app.sent.filter(({ name }) => name === "navigation /cart")
          .map(({ traceId }) => traceId),
      ).size === 3);
  },
);

testPage(
  "a click that navigates is one navigation, from the click on",
  async (app, view) => {
    await run(
      view,
      `document.querySelector("#save").onclick = async () => {
         await fetch("/echo?before");
         history.pushState(null, "", "/cart");
         await fetch("/echo?after");
       };`,
    );
    await view.page.click("#save");
    const root = await sentSpan(app, "navigation /cart");
    assertEquals(childrenOf(app, root), ["fetch GET /echo", "fetch GET /echo"]);
    const [first] = app.sent.filter(({ parentId }) => parentId === root.id);
    assert(root.startTime <= first!.startTime);
    assertEquals(root.attributes["app.action"], "navigation");
    const ended = app.sent.filter(({ attributes, name }) =>
      name.startsWith("click") && !attributes["app.open"]
    );
    assertEquals(ended, []);
  },
);

testPage(
  "an address that a page corrects is no navigation",
  async (app, view) => {
    await run(
      view,
      `history.replaceState(null, "", "/?page=2");
       history.pushState(null, "", "/?page=2#part");
       history.replaceState({ scroll: 5 }, "");
       await fetch("/echo?1");`,
    );
    assertEquals((await sentSpan(app, "fetch GET /echo")).parentId, null);
    await run(
      view,
      `history.replaceState(null, "", "/corrected"); await fetch("/echo?2")`,
    );
    await sentSpan(app, "navigation /corrected");
  },
);

/** A clock that the test can move forward. */
const SHIFT = `<script>{
  const { now } = performance;
  window.shift = 0;
  performance.now = () => now.call(performance) + shift;
}</script>`;

testPage("a root ends after 30 s at most", async (app, view) => {
  await run(view, fetchOn("click", "/hang"));
  await view.page.click("#save");
  await until(
    "the request",
    () => app.requests.some(({ url }) => url.endsWith("/hang")),
  );
  await run(view, `shift = 31_000`);
  const root = await sentSpan(app, 'click button "Save all"');
  const duration = Math.round(root.endTime - root.startTime);
  assertEquals(duration, 30_000);
}, {
  head: SHIFT + CONTROLS,
  routes: [{
    path: "/hang",
    handler: ({ signal }) =>
      new Promise((resolve) =>
        signal.addEventListener("abort", () => resolve(new Response()))
      ),
  }],
});

testPage("an idle page has no timers", async (app, view) => {
  await run(view, fetchOn("click"));
  await view.page.click("#save");
  await sentSpan(app, 'click button "Save all"');
  const calls = await run<number>(
    view,
    `let calls = 0;
     const { setTimeout: native } = window;
     window.setTimeout = (...args) => { calls++; return native(...args); };
     await new Promise((resolve) => native(resolve, 2500));
     return calls;`,
  );
  assertEquals(calls, 0);
});

testPage("closing a page ends its roots", async (app, view) => {
  await run(
    view,
    `document.querySelector("#save").onclick = () => {
       fetch("/hang");
       setTimeout(() => location.assign("about:blank"), 200);
     };`,
  );
  await view.page.click("#save");
  await view.page.waitForURL("about:blank");
  const root = await sentSpan(app, 'click button "Save all"');
  assertGreater(root.endTime, root.startTime);
}, {
  routes: [{
    path: "/hang",
    handler: ({ signal }) =>
      new Promise((resolve) =>
        signal.addEventListener("abort", () => resolve(new Response()))
      ),
  }],
});

testPage("a failing fetch is part of its interaction", async (app, view) => {
  await view.page.route("**/fails", (route) => route.abort());
  await run(view, fetchOn("click", "/fails"));
  await view.page.click("#save");
  const root = await sentSpan(app, 'click button "Save all"');
  const request = await sentSpan(app, "fetch GET /fails");
  assertEquals([request.parentId, request.traceId], [root.id, root.traceId]);
  assertEquals(request.status, "error");
  assertEquals(request.attributes["error.type"], "TypeError");
});

testPage(
  "a page that the browser has kept begins a navigation",
  async (app, view) => {
    await run(
      view,
      `dispatchEvent(new PageTransitionEvent("pagehide", { persisted: true }));
     dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }));
     await fetch("/echo");`,
    );
    const root = await sentSpan(app, "navigation /");
    assertEquals(childrenOf(app, root), ["fetch GET /echo"]);
  },
);

testPage("two tabs have traces of their own", async (app, view) => {
  await using other = await browser.newPage();
  await other.page.goto(app.url);
  await Promise.all([view, other].map(async (tab) => {
    await run(tab, fetchOn("click"));
    await tab.page.click("#save");
  }));
  const roots = await until("two clicks", () => {
    const found = app.sent.filter(({ name, attributes }) =>
      name.startsWith("click") && !attributes["app.open"]
    );
    return found.length === 2 && found;
  });
  assertEquals(new Set(roots.map(({ traceId }) => traceId)).size, 2);
  for (const root of roots) {
    assertEquals(childrenOf(app, root), ["fetch GET /echo"]);
  }
});

testPage(
  "a page without tracing on the server sends nothing",
  async (app, view) => {
    await run(view, fetchOn("click"));
    await view.page.click("#save");
    await run(
      view,
      `history.pushState(null, "", "/cart"); await fetch("/echo")`,
    );
    await view.page.goto("about:blank");
    assertEquals(app.sent, []);
    const paths = app.requests.map(({ url }) => new URL(url).pathname);
    assertFalse(paths.some((path) => path.startsWith("/__app/")));
  },
  { traced: false, idle: false },
);
