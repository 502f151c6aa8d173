/** An entry of the log of slot holders (see `slot-holder.mjs`). */
export interface SlotEvent {
  /** The server's time in milliseconds. */
  readonly atMs: number;
  /** `gone` means that the test is about to kill or pause the process. */
  readonly event: 'try' | 'got' | 'end' | 'gone';
  readonly process: string;
  readonly slot: string;
}

/** What a slot log shows. */
export interface SlotUse {
  /** The most slots that were in use at once. */
  readonly most: number;
  /** How many slots were taken. */
  readonly taken: number;
}

/**
 * Counts the slots in use. A slot counts from its entry `got` until its entry `end`, or until its process is killed or paused. So
 * each counted slot is really held. Without a renewal it is held for `maxMs` since its check at most.
 */
export function useOfSlots(events: readonly SlotEvent[], maxMs: number): SlotUse {
  const tried = new Map<string, SlotEvent>();
  const held = new Map<string, { readonly process: string; readonly untilMs: number }>();
  let [most, taken] = [0, 0];
  for (const one of events) {
    const { atMs, event, process, slot } = one;
    for (const [name, { untilMs }] of held) if (untilMs <= atMs) held.delete(name);
    if (event === 'try') tried.set(slot, one);
    else if (event === 'end') held.delete(slot);
    else if (event === 'gone') {
      for (const [name, holder] of held) if (holder.process === process) held.delete(name);
      for (const [name, attempt] of tried) if (attempt.process === process) tried.delete(name);
    } else if (tried.has(slot)) {
      held.set(slot, { process, untilMs: tried.get(slot)!.atMs + maxMs });
      taken += 1;
    }
    most = Math.max(most, held.size);
  }
  return { most, taken };
}
