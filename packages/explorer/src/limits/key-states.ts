import { type Life, NO_NEWEST } from './key-life.js';
import type { Part } from './recorded-part.js';
import type { ScenarioLimit } from './scenario.js';

/** The lives of the keys, and what the oracles decide by them. */
export abstract class KeyStates {
  nowMicros = 0;
  /** By the index of the state. The array is replaced and never changed, like the receipts, so a copy may share it. */
  lives: readonly (Life | undefined)[];
  protected lifeCount = 0;

  constructor(lives: KeyStates['lives']) {
    this.lives = lives;
  }

  /** Whether this limit would allow the action by itself. */
  allows(scenarioLimit: ScenarioLimit, stateIndex: number, at: number, cost: number): boolean {
    const { oracle } = scenarioLimit;
    return cost <= oracle.quota && oracle.allows(this.read(scenarioLimit, stateIndex, at), at, cost);
  }

  /** The free units. Negative if the settings have changed. */
  free(scenarioLimit: ScenarioLimit, stateIndex: number, at: number): number {
    return scenarioLimit.oracle.free(this.read(scenarioLimit, stateIndex, at), at);
  }

  /** The state of a key at this time. */
  read({ oracle }: ScenarioLimit, stateIndex: number, at: number): unknown {
    return this.isLive(stateIndex, at) ? this.lives[stateIndex]!.state : oracle.empty;
  }

  /** Whether the key has no state at this time. */
  isEmpty(stateIndex: number, at: number): boolean {
    return !this.isLive(stateIndex, at);
  }

  /** The time since this limit last recorded in the current life of the key, or `Infinity`. */
  microsSinceNewest({ index }: ScenarioLimit, stateIndex: number): number {
    const newest = this.isLive(stateIndex, this.nowMicros) ? this.lives[stateIndex]!.newest[index] : undefined;
    return newest === undefined ? Infinity : this.nowMicros - newest;
  }

  protected isInItsLife({ stateIndex, life }: Part): boolean {
    return this.lives[stateIndex]?.id === life && this.isLive(stateIndex, this.nowMicros);
  }

  protected dropImplausible({ oracle }: ScenarioLimit, stateIndex: number): void {
    const life = this.lives[stateIndex];
    if (life !== undefined && oracle.isImplausible(life.state, this.nowMicros)) this.setLife(stateIndex, undefined);
  }

  /** The life that an action at this time continues, or a new one. */
  protected currentLife(stateIndex: number): Pick<Life, 'id' | 'newest'> {
    if (this.isLive(stateIndex, this.nowMicros)) return this.lives[stateIndex]!;
    return { id: this.lifeCount++, newest: NO_NEWEST };
  }

  protected setLife(stateIndex: number, life: Life | undefined): void {
    this.lives = this.lives.with(stateIndex, life);
  }

  protected isLive(stateIndex: number, at: number): boolean {
    const life = this.lives[stateIndex];
    return life !== undefined && life.recorder.oracle.expires(life.state) > at;
  }
}
