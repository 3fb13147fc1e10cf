/**
 * Realistic traces of a small shop, reproducible by seed. For tests, for
 * benchmarks, and for looking at the viewer.
 *
 * @module
 */

import type {
  AttributeValue,
  Layer,
  SerializedTrace,
  SpanData,
  SpanEvent,
} from "../../trace/types.ts";

/** Options of `sampleTraces()` and `createTraceMaker()`. */
export interface SampleOptions {
  /** Seed of all random values. Default: 1. */
  readonly seed?: number;
  /** Number of traces. Default: 100. */
  readonly count?: number;
  /** Start of the first trace, in epoch milliseconds. */
  readonly startTime?: number;
}

/** Creates traces one at a time. */
export interface TraceMaker {
  /** Returns the next trace. It starts after the previous one. */
  next(): SerializedTrace;
}

const DEFAULT_START = Date.UTC(2026, 2, 14, 9, 30);

const ROUTES = [
  { method: "GET", route: "/", weight: 4, make: homePage },
  { method: "GET", route: "/products/:slug", weight: 8, make: productPage },
  { method: "GET", route: "/orders", weight: 3, make: orderList },
  { method: "POST", route: "/cart/items", weight: 4, make: addToCart },
  { method: "POST", route: "/api/rpc", weight: 6, make: rpcCall },
  { method: "POST", route: "/sign-in", weight: 1, make: signIn },
  { method: "GET", route: "/assets/:file", weight: 5, make: asset },
  { method: "DELETE", route: "/cart/items/:id", weight: 1, make: removeItem },
] as const;

const SLUGS = [
  "walnut-desk",
  "linen-chair",
  "brass-lamp",
  "oak-shelf",
  "jute-rug",
];

/** Creates several traces. */
export function sampleTraces(options: SampleOptions = {}): SerializedTrace[] {
  const maker = createTraceMaker(options.seed, options.startTime);
  return Array.from({ length: options.count ?? 100 }, () => maker.next());
}

/** Creates a `TraceMaker`. */
export function createTraceMaker(
  seed = 1,
  startTime = DEFAULT_START,
): TraceMaker {
  const random = createRandom(seed);
  const weighted = ROUTES.flatMap((route) =>
    Array<typeof route>(route.weight).fill(route)
  );
  let clock = startTime;
  return {
    next() {
      clock += 20 + random() * 1500;
      const { method, route, make } = pick(weighted, random);
      const pathname = route
        .replace(":slug", () => pick(SLUGS, random))
        .replace(":file", "app.js")
        .replace(":id", () => String(Math.floor(random() * 900) + 100));
      const builder = createBuilder(random, clock, `${method} ${pathname}`);
      builder.set("http.request.method", method);
      builder.set("url.scheme", "http");
      builder.set("url.path", pathname);
      builder.set("server.address", "127.0.0.1");
      builder.set("server.port", 8000);
      builder.set("http.request.header.accept", "text/html,*/*;q=0.8");
      const statusCode = make(builder, random);
      builder.set("http.route", route);
      builder.set("http.response.status_code", statusCode);
      return builder.finish({
        origin: "server",
        method,
        pathname,
        statusCode,
        routePattern: route,
      });
    },
  };
}

/** Creates one trace of many spans: a page that queries each of its rows. */
export function largeTrace(spanCount: number, seed = 7): SerializedTrace {
  const random = createRandom(seed);
  const builder = createBuilder(random, DEFAULT_START, "GET /reports/yearly");
  builder.set("http.request.method", "GET");
  builder.set("url.path", "/reports/yearly");
  let left = spanCount - 1;
  let section = 0;
  while (left > 0) {
    const size = Math.min(left, 5 + Math.floor(random() * 90));
    left -= size;
    builder.child(`loader:section-${++section}`, "data", () => {
      for (let i = 1; i < size; i++) {
        if (random() < 0.2) {
          builder.child(
            `custom:fold-${i % 9}`,
            "custom",
            () => builder.wait(0.4),
          );
        } else {
          builder.query(`SELECT * FROM sales WHERE day = ${i}`, 0.3 + random());
        }
      }
      if (random() < 0.02) builder.fail("RangeError", "Invalid time value");
    });
  }
  return builder.finish({
    origin: "server",
    method: "GET",
    pathname: "/reports/yearly",
    statusCode: 200,
    routePattern: "/reports/:period",
  });
}

type Builder = ReturnType<typeof createBuilder>;
type Random = () => number;

interface Draft extends SpanData {
  status: SpanData["status"];
  endTime: number;
  duration: number;
  attributes: Record<string, AttributeValue>;
  events: SpanEvent[];
  children: string[];
}

/** Records spans against a clock that only `wait` advances. */
function createBuilder(random: Random, startTime: number, name: string) {
  const spans: Draft[] = [];
  const traceId = hex(32, random);
  let now = startTime;
  let current = open(name, "request", null);

  function open(name: string, layer: Layer, parent: Draft | null): Draft {
    const draft: Draft = {
      id: hex(16, random),
      traceId,
      parentId: parent?.id ?? null,
      name,
      layer,
      status: "ok",
      startTime: now,
      endTime: now,
      duration: 0,
      attributes: {},
      events: [],
      children: [],
    };
    parent?.children.push(draft.id);
    spans.push(draft);
    return draft;
  }

  function close(draft: Draft): void {
    draft.endTime = now;
    draft.duration = draft.endTime - draft.startTime;
  }

  const builder = {
    set(key: string, value: AttributeValue): void {
      current.attributes[key] = value;
    },
    wait(ms: number): void {
      now += ms * (0.5 + random());
    },
    child(name: string, layer: Layer, run: () => void): void {
      const parent = current;
      current = open(name, layer, parent);
      run();
      close(current);
      current = parent;
    },
    query(statement: string, ms: number): void {
      builder.child("db.query", "database", () => {
        builder.set("db.system.name", "sqlite");
        builder.set("db.query.text", statement);
        builder.wait(ms);
        builder.set("db.response.returned_rows", Math.ceil(random() * 40));
      });
    },
    /** Runs all functions at the same time. */
    parallel(...runs: (() => void)[]): void {
      const begin = now;
      let latest = now;
      for (const run of runs) {
        now = begin;
        run();
        latest = Math.max(latest, now);
      }
      now = latest;
    },
    event(name: string, attributes: Record<string, AttributeValue>): void {
      current.events.push({ name, time: now, attributes });
    },
    fail(type: string, message: string): void {
      current.status = "error";
      current.attributes["error.type"] = type;
      builder.event("exception", {
        "exception.type": type,
        "exception.message": message,
        "exception.stacktrace": `${type}: ${message}\n` +
          "    at loadStock (file:///shop/data/stock.ts:41:11)\n" +
          "    at async loader (file:///shop/routes/product.ts:18:20)\n" +
          "    at async handle (file:///shop/main.ts:64:5)",
      });
    },
    finish(metadata: SerializedTrace["metadata"]): SerializedTrace {
      const root = spans[0]!;
      close(root);
      if ((metadata.statusCode ?? 0) >= 500) root.status = "error";
      const startTime = Math.min(...spans.map((span) => span.startTime));
      const endTime = Math.max(...spans.map((span) => span.endTime));
      return {
        id: traceId,
        rootSpanId: root.id,
        startTime,
        endTime,
        duration: endTime - startTime,
        spans,
        metadata,
      };
    },
    /**
     * Adds the browser's fetch around the root, and its work on the response.
     */
    fromBrowser(): void {
      const root = spans[0]!;
      const fetchSpan = open(`fetch ${root.name}`, "request", null);
      const shifted = {
        ...fetchSpan,
        startTime: root.startTime - 3 - random() * 6,
        endTime: now + 2 + random() * 5,
        attributes: { "app.origin": "client", "url.path": "/" },
        children: [root.id],
      };
      shifted.duration = shifted.endTime - shifted.startTime;
      spans[spans.length - 1] = shifted;
      spans[0] = { ...root, parentId: shifted.id };
      current = spans[0]!;
      const hydrate = open("hydrate:cart-button", "islands", shifted);
      hydrate.attributes["app.origin"] = "client";
      const begin = now + 1;
      spans[spans.length - 1] = {
        ...hydrate,
        startTime: begin,
        endTime: begin + 4.2,
        duration: 4.2,
      };
    },
  };
  return builder;
}

function authCheck(b: Builder, r: Random): void {
  b.child("auth:session", "auth", () => {
    b.set("app.auth.result", "authenticated");
    b.wait(0.4);
    if (r() < 0.3) b.query("SELECT * FROM sessions WHERE id = 'a3f9'", 0.8);
  });
}

function match(b: Builder, route: string): void {
  b.wait(0.08);
  b.child("route.match", "routing", () => {
    b.set("http.route", route);
    b.wait(0.05);
  });
}

function homePage(b: Builder, r: Random): number {
  match(b, "/");
  authCheck(b, r);
  b.parallel(
    () =>
      b.child("loader:featured", "data", () => {
        b.child("cache.get", "data", () => {
          b.set("app.cache.key", "featured:home");
          b.set("app.cache.result", r() < 0.6 ? "hit" : "miss");
          b.wait(0.2);
        });
        b.query(
          "SELECT id, slug, name, price FROM products WHERE featured = 1 ORDER BY rank LIMIT 12",
          4,
        );
      }),
    () =>
      b.child("loader:banner", "data", () => {
        b.query(
          "SELECT * FROM banners WHERE active = 1 AND starts_at < 1772000000",
          2,
        );
      }),
  );
  b.child("signal.batch", "signals", () => b.wait(0.3));
  b.child("render:home", "custom", () => b.wait(3));
  b.wait(0.2);
  if (r() < 0.4) b.fromBrowser();
  return 200;
}

function productPage(b: Builder, r: Random): number {
  match(b, "/products/:slug");
  authCheck(b, r);
  const broken = r() < 0.04;
  b.child("loader:product", "data", () => {
    b.query(
      "SELECT p.id, p.name, p.price, s.level FROM products p LEFT JOIN stock s ON s.product_id = p.id WHERE p.slug = 'walnut-desk' AND p.deleted_at IS NULL",
      3,
    );
    if (broken) {
      b.child("stock.level", "rpc", () => {
        b.wait(30);
        b.fail("TimeoutError", "The stock service gave no answer within 30 ms");
      });
      return;
    }
    if (r() < 0.45) {
      const reviews = 6 + Math.floor(r() * 20);
      b.query(
        "SELECT id FROM reviews WHERE product_id = 81 ORDER BY created_at DESC",
        2,
      );
      for (let i = 0; i < reviews; i++) {
        b.query(`SELECT name, avatar FROM users WHERE id = ${1000 + i}`, 0.9);
      }
    } else {
      b.child("cache.get", "data", () => {
        b.set("app.cache.key", "reviews:81");
        b.set("app.cache.result", "hit");
        b.wait(0.2);
      });
    }
  });
  if (broken) return 500;
  b.child("render:product", "custom", () => b.wait(4));
  if (r() < 0.5) b.fromBrowser();
  return 200;
}

function orderList(b: Builder, r: Random): number {
  match(b, "/orders");
  authCheck(b, r);
  if (r() < 0.2) {
    b.child("auth:requireRoles", "auth", () => b.wait(0.1));
    return 401;
  }
  b.child("loader:orders", "data", () => {
    b.query(
      "SELECT * FROM orders WHERE user_id = 42 ORDER BY placed_at DESC LIMIT 20",
      6,
    );
    b.parallel(
      ...Array.from(
        { length: 4 },
        (_, i) => () =>
          b.child("rpc:shipping.status", "rpc", () => {
            b.set("rpc.method", "shipping.status");
            b.wait(12 + i * 4);
          }),
      ),
    );
  });
  b.child("render:orders", "custom", () => b.wait(3));
  return 200;
}

function addToCart(b: Builder, r: Random): number {
  match(b, "/cart/items");
  authCheck(b, r);
  let status = 303;
  b.child("form:add-to-cart", "forms", () => {
    b.child("form.validate", "forms", () => b.wait(0.3));
    if (r() < 0.15) {
      status = 422;
      b.event("form.validation", {
        "app.form.valid": false,
        "app.form.invalid_fields": "quantity",
      });
      return;
    }
    b.query("BEGIN", 0.1);
    b.query(
      "INSERT INTO cart_items (cart_id, product_id, quantity) VALUES (7, 81, 1) RETURNING id",
      2,
    );
    b.query("COMMIT", 1.5);
    b.child("signal.update", "signals", () => {
      b.set("app.signal.name", "cartCount");
      b.wait(0.1);
    });
  });
  return status;
}

function removeItem(b: Builder, r: Random): number {
  match(b, "/cart/items/:id");
  authCheck(b, r);
  b.query("DELETE FROM cart_items WHERE id = 412 AND cart_id = 7", 2);
  return 204;
}

function rpcCall(b: Builder, r: Random): number {
  match(b, "/api/rpc");
  const method = pick(["catalog.search", "stock.level", "cart.total"], r);
  authCheck(b, r);
  let status = 200;
  b.child(`rpc:${method}`, "rpc", () => {
    b.set("rpc.method", method);
    b.child("validate.input", "rpc", () => b.wait(0.2));
    b.query(`SELECT * FROM ${method.split(".")[0]} WHERE term LIKE '%oak%'`, 8);
    if (r() < 0.03) {
      b.fail(
        "TypeError",
        "Cannot read properties of undefined (reading 'price')",
      );
      status = 500;
    }
  });
  return status;
}

function signIn(b: Builder, r: Random): number {
  match(b, "/sign-in");
  let status = 303;
  b.child("form:sign-in", "forms", () => {
    b.query(
      "SELECT id, password_hash FROM users WHERE email = 'ada@example.com'",
      2,
    );
    b.child("auth:verify-password", "auth", () => b.wait(70));
    if (r() < 0.3) status = 401;
  });
  return status;
}

function asset(b: Builder, r: Random): number {
  match(b, "/assets/:file");
  b.child("cache.get", "data", () => {
    b.set("app.cache.key", "asset:app.js");
    b.set("app.cache.result", "hit");
    b.wait(0.1);
  });
  return r() < 0.5 ? 304 : 200;
}

/** Creates a generator of numbers from 0 to 1 (mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function pick<T>(items: readonly T[], random: Random): T {
  return items[Math.floor(random() * items.length)]!;
}

function hex(length: number, random: Random): string {
  let text = "";
  while (text.length < length) {
    text += Math.floor(random() * 2 ** 32).toString(16).padStart(8, "0");
  }
  return text;
}
