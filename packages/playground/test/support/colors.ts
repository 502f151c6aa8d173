/** A color's parts, from 0 to 1, as the screen takes them. */
type Color = readonly [number, number, number];

export function fromHex(hex: string): Color {
  const part = (at: number) => Number.parseInt(hex.slice(at, at + 2), 16) / 255;
  if (!/^#[\da-f]{6}$/i.test(hex)) throw new Error(`Expected a color such as #0072b2, got "${hex}"`);
  return [part(1), part(3), part(5)];
}

const toLinear = (part: number) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
const linear = (color: Color): Color => color.map(toLinear) as unknown as Color;

function times(matrix: readonly Color[], [x, y, z]: Color): Color {
  return matrix.map(([a, b, c]) => a * x + b * y + c * z) as unknown as Color;
}

/** Contrast as WCAG 2 defines it, 1 to 21. */
export function contrast(one: string, other: string): number {
  const luminance = (hex: string) => {
    const [red, green, blue] = linear(fromHex(hex));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light! + 0.05) / (dark! + 0.05);
}

/** What the color-blind see of linear colors, by Machado, Oliveira and Fernandes (2009), at full severity. */
export const COLOR_VISIONS: Readonly<Record<string, readonly Color[]>> = {
  usual: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

const TO_XYZ: readonly Color[] = [
  [0.4124564, 0.3575761, 0.1804375],
  [0.2126729, 0.7151522, 0.072175],
  [0.0193339, 0.119192, 0.9503041],
];
const WHITE: Color = [0.95047, 1, 1.08883];

/** How different two colors look to a person with this color vision: the distance in CIELAB, of which 2 can just be seen. */
export function difference(one: string, other: string, vision: readonly Color[]): number {
  const lab = (hex: string): Color => {
    const xyz = times(TO_XYZ, times(vision, linear(fromHex(hex))));
    const [x, y, z] = xyz.map((value, index) => {
      const part = value / WHITE[index]!;
      return part > 0.008856 ? Math.cbrt(part) : 7.787 * part + 16 / 116;
    }) as unknown as Color;
    return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
  };
  const [from, to] = [lab(one), lab(other)];
  return Math.hypot(...from.map((value, index) => value - to[index]!));
}
