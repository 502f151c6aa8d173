import { effort } from '@rollgate/test-support/effort';
import type { Task } from './support/hammers.js';
import { NaiveReplay, redisKeysOf } from './support/naive-replay.js';
import { ScriptProcess } from './support/script-process.js';
import { freshPrefix, SomeRedis } from './support/some-redis.js';

const redis = SomeRedis.forThisFile();

const limits = { caller: { limit: 10, window: 60_000 }, all: { limit: 60, window: 60_000 } };

type Kind = readonly [ReplayerOptions['log'], ReplayerOptions['denialCache']];

/** Pseudorandom numbers from 0 to 1, the same in each run. */
function* randomNumbers(seed: number): Generator<number, never> {
  for (let state = seed; ; ) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state / 2 ** 32;
  }
}

/**
 * Traffic like that of a web server's access log, in whole seconds. Many clients come once, some come in bursts for a page and
 * its images, and a few never stop.
 */
function traffic(seed: number): Line[] {
  const random = randomNumbers(seed);
  const below = (limit: number) => Math.floor(random.next().value * limit);
  const lines: Line[] = [];
  const visit = (caller: string, fromSeconds: number, requests: number, longestGap: number) => {
    let atSeconds = fromSeconds;
    for (let request = 0; request < requests; request++) {
      lines.push({ atMs: (1_431_857_103 + atSeconds) * 1000, key: { caller, all: 'all' } });
      atSeconds += below(longestGap + 1);
    }
  };
  for (let caller = 0; caller < 600; caller++) visit(`visitor ${caller}`, below(3600), 1 + below(3), 30);
  for (let page = 0; page < 120; page++) visit(`reader ${below(50)}`, below(3600), 10 + below(30), 1);
  for (let robot = 0; robot < 5; robot++) visit(`robot ${robot}`, below(60), 300, 20);
  return lines.sort((one, other) => one.atMs - other.atMs);
}

test.each([...effort<Kind[]>([], [['packed', false]]), ['sorted-set', false], ['packed', {}]] satisfies Kind[])(
  '3 processes decide each line of a log as the naive log does: %s, denialCache: %j',
  async (log, denialCache) => {
    const lines = traffic(42);
    const task: Task = { prefix: freshPrefix(), limits, keys: lines.map(({ key }) => key) };
    const naive = new NaiveReplay([task]);
    const make = () => new Replayer({ url: redis.url, log, denialCache, task: { prefix: task.prefix, limits } });
    const processes = Array.from({ length: 3 }, make);
    const rejected = { caller: 0, all: 0, both: 0 };
    try {
      // One process at a time decides 1 to 40 lines, so the lines are decided in order.
      for (let start = 0, round = 0; start < lines.length; round++) {
        const batch = lines.slice(start, start + 1 + ((round * 7) % 40));
        start += batch.length;
        const decided = await processes[round % 3]!.decide(batch);
        const expected = batch.map(({ atMs, key }) =>
          naive.decide(redisKeysOf(task, key), atMs * 1000).map((full) => full.slice(full.lastIndexOf(':') + 1)),
        );
        for (const [one] of expected.filter(({ length }) => length === 1)) rejected[one as 'caller' | 'all'] += 1;
        rejected.both += expected.filter(({ length }) => length === 2).length;
        // The denial cache does not know which other limit has become full since the rejection.
        const toComparable = (violated: string[]) => (denialCache === false ? violated : violated.length > 0);
        expect(decided.map(toComparable)).toEqual(expected.map(toComparable));
      }
    } finally {
      for (const one of processes) one.kill();
    }
    for (const count of Object.values(rejected)) expect(count).toBeGreaterThan(50);
    expect(naive.decided).toBe(lines.length);
  },
);

/** An action of the past. */
interface Line {
  readonly atMs: number;
  readonly key: Task['keys'][number];
}

interface ReplayerOptions {
  readonly url: string;
  readonly log: 'packed' | 'sorted-set';
  readonly denialCache: false | object;
  readonly task: Omit<Task, 'keys'>;
}

/** A separate process that decides the lines it gets (see `replayer.mjs`). */
class Replayer {
  readonly #process: ScriptProcess;

  constructor(options: ReplayerOptions) {
    this.#process = new ScriptProcess('replayer.mjs', options);
  }

  /** Returns the names of the limits that rejected each line. */
  async decide(lines: readonly Line[]): Promise<string[][]> {
    return (await this.#process.request(lines)) as string[][];
  }

  kill(): void {
    this.#process.kill();
  }
}
