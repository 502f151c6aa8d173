import { PriorityQueue, type QueueMember } from '../base/priority-queue.js';
import { DetachedState } from '../engine/detached-state.js';
import type { KeyState } from '../engine/states.js';
import type { StateLifecycle } from '../limits/limit.js';
import { Namespace } from './namespace.js';

/** The state of one key. */
export class MapEntry extends DetachedState implements KeyState, QueueMember {
  readonly diesWithProcess = true;
  life = 0;
  expiresMicros = -Infinity;
  priority = 0;
  queueIndex = -1;

  constructor(
    readonly namespace: MapNamespace,
    readonly key: string,
  ) {
    super(new Float64Array(0));
  }
}

/** The entries of a namespace by their expiry. */
class EntryQueue extends PriorityQueue<MapEntry> {
  get firstMicros(): number | undefined {
    return this.first?.priority;
  }
}

/** A namespace whose places are the entries themselves. */
export class MapNamespace extends Namespace<MapEntry, EntryQueue> {
  constructor(name: string, lifecycle: StateLifecycle) {
    super(name, lifecycle, new EntryQueue());
  }
}
