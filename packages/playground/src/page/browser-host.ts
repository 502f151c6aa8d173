import { MemoryBackend } from '../engine/backend.js';
import { createDirectSend } from '../engine/direct-send.js';
import { Playground } from '../engine/playground.js';
import { Traffic } from '../engine/traffic.js';
import { UpdateFeed } from '../engine/update-feed.js';
import type { Update } from '../shared/protocol.js';
import type { Scenario, Settings } from '../shared/settings.js';
import type { Host, Problem } from './host.js';

/** The page itself, for the static build. @rollgate/core decides in the browser. */
export class BrowserHost implements Host {
  readonly #playground: Playground;
  readonly #traffic: Traffic;

  constructor() {
    this.#playground = new Playground(new MemoryBackend());
    this.#traffic = new Traffic(this.#playground, createDirectSend(this.#playground));
  }

  follow(onUpdate: (update: Update) => void, onConnection: (isConnected: boolean) => void): void {
    this.#playground.open().then(() => {
      new UpdateFeed(this.#playground, this.#traffic).add(onUpdate);
      onConnection(true);
    });
  }

  async send(): Promise<Problem> {
    this.#traffic.sendSingles(1);
    return undefined;
  }

  async run(scenario: Scenario, isAuto: boolean): Promise<Problem> {
    await this.#traffic.start(scenario, isAuto);
    return undefined;
  }

  async stop(): Promise<Problem> {
    this.#traffic.stop();
    return undefined;
  }

  async change(settings: Settings, isAuto: boolean): Promise<Problem> {
    if (!isAuto) this.#traffic.endAutoplay();
    await this.#playground.change(settings);
    return undefined;
  }

  async reset(): Promise<Problem> {
    await this.#traffic.clear();
    return undefined;
  }
}
