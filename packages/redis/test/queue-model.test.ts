import { effort } from '@rollgate/test-support/effort';
import { explore } from './queue-model/explore-queues.js';
import { QueueModel } from './queue-model/queue-model.js';
import { SCOPES } from './queue-model/scopes.js';
import { PrivateRedis } from './support/private-redis.js';

const redis = PrivateRedis.forThisFile();

/** How many states of each scope to visit, and how many of them to continue without faults. */
const [STATES, TRIED] = effort([1000, 10], [200_000, 400]) as [number, number];

test.each(Object.entries(SCOPES))(
  '%s: starts stay within the limits, and no caller waits forever',
  async (name, scope) => {
    const model = new QueueModel(redis.connect() as never, scope);
    const { problem, example, ...figures } = await explore(model, STATES, STATES / TRIED);
    expect({ problem, example }).toEqual({ problem: undefined, example: undefined });
    if (process.env.ROLLGATE_PRINT === '1') process.stdout.write(`${name}: ${JSON.stringify(figures)}\n`);
  },
);
