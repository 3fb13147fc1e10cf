/**
 * What the bundler turns JSX into, and how components follow signals.
 *
 * A component is drawn anew when its props change, or a signal that it read
 * while it was drawn. That is all this page needs of what `@preact/signals`
 * adds to components; the rest of it would be a kilobyte in the page. The
 * classic form of JSX is smaller than the automatic one, too.
 *
 * @module
 */

import { effect } from "@preact/signals";
import {
  Component,
  type ComponentChildren,
  type ComponentClass,
  createElement,
  Fragment,
  type FunctionComponent,
  type VNode,
} from "preact";
import { drawWith, type Memory } from "./hooks.ts";

export { Fragment };

/** The classes that stand for the functions of the page. */
const classes = new Map<FunctionComponent, ComponentClass>();

/** What is drawn in place. */
const inlined = new Set<unknown>();

/**
 * Lets functions be drawn as parts of the component that they stand in, which
 * is many times quicker than to be components themselves. They have no hooks,
 * and if they read a signal, it is the component around them that follows it.
 */
export function inline(...draws: FunctionComponent<never>[]): void {
  for (const draw of draws) inlined.add(draw);
}

/** Makes an element, or a component that follows the signals it reads. */
export function h(
  type: string | FunctionComponent,
  props: object | null,
  ...children: ComponentChildren[]
): VNode {
  if (typeof type === "string" || type === Fragment) {
    return createElement(type as string, props, ...children);
  }
  if (inlined.has(type)) return type({ ...props, children }) as VNode;
  let component = classes.get(type);
  if (component === undefined) {
    component = following(type);
    classes.set(type, component);
  }
  return createElement(component, props, ...children);
}

type Properties = Readonly<Record<string, unknown>>;

function following(draw: FunctionComponent): ComponentClass {
  return class extends Component<Properties> {
    readonly #memory: Memory = { slots: [], waiting: [], cleanups: new Map() };
    #stop = () => {};

    override shouldComponentUpdate(next: Properties): boolean {
      return differs(next, this.props) || differs(this.props, next);
    }

    override render(props: Properties): ComponentChildren {
      let drawn: ComponentChildren;
      let isDrawn = false;
      this.#stop();
      this.#stop = effect(() => {
        if (isDrawn) this.forceUpdate();
        else drawn = drawWith(this.#memory, () => draw(props));
        isDrawn = true;
      });
      return drawn;
    }

    override componentDidMount(): void {
      for (const run of this.#memory.waiting.splice(0)) run();
    }

    override componentDidUpdate(): void {
      this.componentDidMount();
    }

    override componentWillUnmount(): void {
      this.#stop();
      for (const end of this.#memory.cleanups.values()) end();
    }
  };
}

/** Whether a property of one is another in the other, or missing. */
function differs(one: Properties, other: Properties): boolean {
  return Object.keys(one).some((key) => one[key] !== other[key]);
}
