import type { EventEmitter } from 'node:events';

interface Listeners {
  readonly all: Set<() => void>;
  readonly callAll: () => void;
}

const listenersOf = new WeakMap<EventEmitter, Listeners>();

/**
 * Calls `listener` when `emitter` closes, with one listener of Node's for all: many requests of a pipeline share their
 * socket, and must not look like a leak.
 *
 * @returns What stops listening; the last one leaves nothing behind on the emitter.
 */
export function onClose(emitter: EventEmitter, listener: () => void): () => void {
  const listeners = listenersOf.get(emitter) ?? listenTo(emitter);
  listeners.all.add(listener);
  return function stop() {
    if (!listeners.all.delete(listener) || listeners.all.size > 0) return;
    emitter.off('close', listeners.callAll);
    listenersOf.delete(emitter);
  };
}

function listenTo(emitter: EventEmitter): Listeners {
  const all = new Set<() => void>();
  const callAll = () => {
    for (const listener of all) listener();
  };
  emitter.on('close', callAll);
  const listeners = { all, callAll };
  listenersOf.set(emitter, listeners);
  return listeners;
}
