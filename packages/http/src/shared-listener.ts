import type { EventEmitter } from 'node:events';

interface SharedListener {
  readonly listeners: Set<() => void>;
  readonly callAll: () => void;
}

/** The shared listeners of each event that the end of a response may emit. */
const sharedListeners = {
  aborted: new WeakMap<EventEmitter, SharedListener>(),
  close: new WeakMap<EventEmitter, SharedListener>(),
  finish: new WeakMap<EventEmitter, SharedListener>(),
};

type SharedEvent = keyof typeof sharedListeners;

/**
 * Calls `listener` when `emitter` emits `event`. All listeners share one listener of the emitter. Otherwise, the many
 * requests of one pipelined socket, or the many fields of one GraphQL operation, would cause Node's warning about a memory
 * leak.
 *
 * @returns A function that removes `listener`. Once all are removed, nothing stays on the emitter.
 */
export function onEvent(emitter: EventEmitter, event: SharedEvent, listener: () => void): () => void {
  const shared = sharedListeners[event].get(emitter) ?? addSharedListener(emitter, event);
  shared.listeners.add(listener);
  return function remove() {
    if (!shared.listeners.delete(listener) || shared.listeners.size > 0) return;
    emitter.off(event, shared.callAll);
    sharedListeners[event].delete(emitter);
  };
}

function addSharedListener(emitter: EventEmitter, event: SharedEvent): SharedListener {
  const listeners = new Set<() => void>();
  const callAll = () => {
    for (const listener of listeners) listener();
  };
  emitter.on(event, callAll);
  const shared = { listeners, callAll };
  sharedListeners[event].set(emitter, shared);
  return shared;
}
