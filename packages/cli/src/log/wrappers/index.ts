import { JSON_WRAPPERS } from './json-wrappers.js';
import { TEXT_WRAPPERS } from './text-wrappers.js';
import type { Unwrapped, Wrapper } from './wrapper.js';

const WRAPPERS: readonly Wrapper[] = [...JSON_WRAPPERS, ...TEXT_WRAPPERS];

/** More than any real log has. */
const MAX_DEPTH = 4;

/** A line and the wrappers around it, the outermost first. */
interface Layer {
  readonly wrappers: readonly Wrapper[];
  readonly line: string;
}

/** Returns the line inside of all wrappers that fit, then inside of fewer, and at last the line itself. */
export function layersOf(line: string): Layer[] {
  const layers: Layer[] = [{ wrappers: [], line }];
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    const { line: outer, wrappers } = layers[0]!;
    const wrapper = WRAPPERS.find((each) => each.unwrap(outer) !== undefined);
    if (wrapper === undefined) break;
    layers.unshift({ wrappers: [...wrappers, wrapper], line: wrapper.unwrap(outer)!.line });
  }
  return layers;
}

/** Removes all wrappers. Returns `undefined` if the line has another form. */
export function unwrapAll(line: string, wrappers: readonly Wrapper[]): Unwrapped | undefined {
  let unwrapped: Unwrapped = { line };
  for (const wrapper of wrappers) {
    const inner = wrapper.unwrap(unwrapped.line);
    if (inner === undefined) return undefined;
    unwrapped = { line: inner.line, time: inner.time ?? unwrapped.time };
  }
  return unwrapped;
}
