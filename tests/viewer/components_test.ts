import { signal } from "@preact/signals";
import { assertEquals, assertStrictEquals } from "@std/assert";
import type { Component, FunctionComponent } from "preact";
import {
  drawWith,
  type Memory,
  useLayoutEffect,
  useMemo,
  useRef,
} from "../../viewer/hooks.ts";
import { Fragment, h } from "../../viewer/jsx.ts";

/** A component as Preact would have it, and how often it asked to be drawn. */
function place(draw: FunctionComponent) {
  const type = h(draw, null).type as unknown as new (
    props: object,
  ) => Component;
  const instance = new type({});
  const asked = { times: 0 };
  instance.forceUpdate = () => asked.times++;
  return { instance, asked, render: () => instance.render({}) };
}

Deno.test("a component is drawn anew when a signal changes that it read", () => {
  const which = signal<"a" | "b">("a");
  const texts = { a: signal("one"), b: signal("two") };
  const { instance, asked, render } = place(() => texts[which.value].value);
  assertEquals(render(), "one");
  texts.b.value = "three";
  assertEquals(asked.times, 0);
  which.value = "b";
  assertEquals(asked.times, 1);
  assertEquals(render(), "three");
  texts.a.value = "four";
  assertEquals(asked.times, 1);
  texts.b.value = "five";
  assertEquals(asked.times, 2);
  assertEquals(render(), "five");
  instance.componentWillUnmount!();
  texts.b.value = "six";
  assertEquals(asked.times, 2);
});

Deno.test("a component is drawn anew for other properties, not for the same", () => {
  const { instance } = place(() => null);
  const props = { a: 1, b: "x" };
  Object.assign(instance, { props });
  const should = (next: object) =>
    instance.shouldComponentUpdate!(next, {}, undefined);
  assertEquals(should({ ...props }), false);
  assertEquals(should({ ...props, a: 2 }), true);
  assertEquals(should({ a: 1 }), true);
  assertEquals(should({ ...props, c: undefined }), false);
  assertEquals(should({ ...props, c: 0 }), true);
});

Deno.test("a function is one component, and elements stay what they are", () => {
  const draw = () => null;
  assertStrictEquals(h(draw, null).type, h(draw, null).type);
  assertEquals(h("p", { id: "x" }, "text").type, "p");
  assertStrictEquals(h(Fragment, null).type, Fragment);
});

Deno.test("hooks keep what they made until their inputs change", () => {
  const memory: Memory = { slots: [], waiting: [], cleanups: new Map() };
  const draw = (input: number) =>
    drawWith(memory, () => [useMemo(() => ({ input }), [input]), useRef(0)]);
  const [made, ref] = draw(1);
  const again = draw(1);
  assertStrictEquals(again[0], made);
  assertStrictEquals(again[1], ref);
  const changed = draw(2);
  assertEquals(changed[0] === made, false);
  assertStrictEquals(changed[1], ref);
});

Deno.test("effects run once drawn, when inputs change, and end with the component", () => {
  const log: string[] = [];
  const input = signal(1);
  const { instance, render } = place(() => {
    const { value } = input;
    useLayoutEffect(() => {
      log.push(`run ${value}`);
      return () => log.push(`end ${value}`);
    }, [value]);
    useLayoutEffect(() => {
      log.push("once");
    }, []);
    return null;
  });
  const update = () => {
    render();
    instance.componentDidUpdate!({}, {}, undefined);
  };
  render();
  assertEquals(log.splice(0), []);
  instance.componentDidMount!();
  assertEquals(log.splice(0), ["run 1", "once"]);
  update();
  assertEquals(log.splice(0), []);
  input.value = 2;
  update();
  assertEquals(log.splice(0), ["end 1", "run 2"]);
  instance.componentWillUnmount!();
  assertEquals(log, ["end 2"]);
});
