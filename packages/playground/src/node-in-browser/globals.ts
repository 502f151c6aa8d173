// What the core uses of Node's globals.

/** A timer of a browser keeps no process alive, so `unref` changes nothing. */
class BrowserTimer {
  readonly id: number;

  constructor(id: number) {
    this.id = id;
  }

  unref(): this {
    return this;
  }

  ref(): this {
    return this;
  }
}

const original = { setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout };

export function setTimeout(callback: () => void, ms?: number): BrowserTimer {
  return new BrowserTimer(original.setTimeout.call(globalThis, callback, ms) as unknown as number);
}

export function clearTimeout(timer: BrowserTimer | undefined): void {
  if (timer !== undefined) original.clearTimeout.call(globalThis, timer.id);
}

export const setImmediate = (callback: () => void): BrowserTimer => setTimeout(callback, 0);

export const process = {
  hrtime(): [seconds: number, nanoseconds: number] {
    const micros = Math.floor(performance.now() * 1000);
    return [Math.floor(micros / 1e6), (micros % 1e6) * 1000];
  },
  emitWarning(message: string): void {
    console.warn(message);
  },
};

/** Copies strings, as the core does to release the text from which they were cut. */
export const Buffer = {
  from: (text: string) => ({ toString: () => text }),
};
