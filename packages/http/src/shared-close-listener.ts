import type { EventEmitter } from 'node:events';

interface SharedListener {
  readonly listeners: Set<() => void>;
  readonly callAll: () => void;
}

const sharedListeners = new WeakMap<EventEmitter, SharedListener>();

/**
 * Calls `listener` when `emitter` closes. All listeners share one listener of the emitter. Otherwise, the many requests of
 * one pipelined socket would cause Node's warning about a memory leak.
 *
 * @returns A function that removes `listener`. Once all are removed, nothing stays on the emitter.
 */
export function onClose(emitter: EventEmitter, listener: () => void): () => void {
  const shared = sharedListeners.get(emitter) ?? addSharedListener(emitter);
  shared.listeners.add(listener);
  return function remove() {
    if (!shared.listeners.delete(listener) || shared.listeners.size > 0) return;
    emitter.off('close', shared.callAll);
    sharedListeners.delete(emitter);
  };
}

function addSharedListener(emitter: EventEmitter): SharedListener {
  const listeners = new Set<() => void>();
  const callAll = () => {
    for (const listener of listeners) listener();
  };
  emitter.on('close', callAll);
  const shared = { listeners, callAll };
  sharedListeners.set(emitter, shared);
  return shared;
}
