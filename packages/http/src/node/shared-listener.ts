import type { EventEmitter } from 'node:events';

interface SharedListener {
  readonly listeners: Set<() => void>;
  readonly callAll: () => void;
}

/** On an emitter, the shared listener of an event. A property costs less than an entry of a `WeakMap`. */
const SHARED = {
  aborted: Symbol('Rollgate aborted listener'),
  close: Symbol('Rollgate close listener'),
  end: Symbol('Rollgate end listener'),
  finish: Symbol('Rollgate finish listener'),
  goaway: Symbol('Rollgate goaway listener'),
};

type SharedEvent = keyof typeof SHARED;
type SharingEmitter = EventEmitter & { [shared: symbol]: SharedListener | undefined };

/**
 * Calls `listener` when `emitter` emits `event`. All listeners share one listener of the emitter. Otherwise, the many
 * requests of one pipelined socket, or the many fields of one GraphQL operation, would cause Node's warning about a memory
 * leak.
 *
 * @returns A function that removes `listener`. Once all are removed, nothing stays on the emitter.
 */
export function onEvent(emitter: EventEmitter, event: SharedEvent, listener: () => void): () => void {
  const shared = (emitter as SharingEmitter)[SHARED[event]] ?? addSharedListener(emitter as SharingEmitter, event);
  shared.listeners.add(listener);
  return function remove() {
    if (!shared.listeners.delete(listener) || shared.listeners.size > 0) return;
    emitter.off(event, shared.callAll);
    (emitter as SharingEmitter)[SHARED[event]] = undefined;
  };
}

function addSharedListener(emitter: SharingEmitter, event: SharedEvent): SharedListener {
  const listeners = new Set<() => void>();
  const callAll = () => {
    for (const listener of listeners) listener();
  };
  emitter.on(event, callAll);
  const shared = { listeners, callAll };
  emitter[SHARED[event]] = shared;
  return shared;
}
