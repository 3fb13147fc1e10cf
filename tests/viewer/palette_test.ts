import { assert } from "@std/assert";
import { LAYER_ORDER } from "../../viewer/model/summary.ts";

type Triple = readonly [number, number, number];

/**
 * Colour blindness in linear sRGB (Machado, Oliveira and Fernandes 2009,
 * severity 1).
 */
const SIGHTS: Readonly<Record<string, readonly number[]>> = {
  normal: [1, 0, 0, 0, 1, 0, 0, 0, 1],
  // deno-fmt-ignore
  protanopia: [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
  // deno-fmt-ignore
  deuteranopia: [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
  // deno-fmt-ignore
  tritanopia: [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039],
};

const css = await Deno.readTextFile(
  new URL("../../viewer/styles.css", import.meta.url),
);

function colorOf(name: string, theme: 0 | 1): Triple {
  const pair = new RegExp(`--${name}:\\s*light-dark\\(([^)]*)\\)`).exec(css);
  const hex = pair?.[1]?.split(",")[theme]?.trim() ?? "";
  assert(/^#[0-9a-f]{6}$/.test(hex), `--${name} is ${hex}`);
  const linear = (at: number) => {
    const value = parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return [linear(1), linear(3), linear(5)];
}

function seenBy(matrix: readonly number[], [r, g, b]: Triple): Triple {
  const row = (i: number) =>
    Math.min(
      Math.max(matrix[i]! * r + matrix[i + 1]! * g + matrix[i + 2]! * b, 0),
      1,
    );
  return [row(0), row(3), row(6)];
}

function oklab([r, g, b]: Triple): Triple {
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

function distance(a: Triple, b: Triple): number {
  const [x, y] = [oklab(a), oklab(b)];
  return 100 * Math.hypot(x[0] - y[0], x[1] - y[1], x[2] - y[2]);
}

function contrast(a: Triple, b: Triple): number {
  const light = ([r, g, b]: Triple) => 0.2126 * r + 0.7152 * g + 0.0722 * b;
  const [low, high] = [light(a), light(b)].sort((x, y) => x - y);
  return (high! + 0.05) / (low! + 0.05);
}

for (const [theme, name] of [[0, "light"], [1, "dark"]] as const) {
  Deno.test(`Layer colours of the ${name} theme are distinguishable in all kinds of colour vision`, () => {
    for (const [sight, matrix] of Object.entries(SIGHTS)) {
      for (const [i, a] of LAYER_ORDER.entries()) {
        for (const b of LAYER_ORDER.slice(i + 1)) {
          const apart = distance(
            seenBy(matrix, colorOf(`layer-${a}`, theme)),
            seenBy(matrix, colorOf(`layer-${b}`, theme)),
          );
          assert(apart >= 6, `${a} and ${b} with ${sight}: ${apart}`);
        }
      }
    }
  });

  Deno.test(`Colours of the ${name} theme have enough contrast`, () => {
    const surface = colorOf("surface", theme);
    for (const layer of LAYER_ORDER) {
      const ratio = contrast(colorOf(`layer-${layer}`, theme), surface);
      assert(ratio >= 3, `${layer}: ${ratio}`);
    }
    for (const text of ["ink", "muted", "accent", "danger", "warn", "good"]) {
      for (const ground of ["surface", "raised", "sunken", "hover"]) {
        const ratio = contrast(colorOf(text, theme), colorOf(ground, theme));
        assert(ratio >= 4.5, `${text} on ${ground}: ${ratio}`);
      }
    }
  });
}
