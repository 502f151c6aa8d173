import { versionOf } from '../machine.js';
import type { Row } from '../table.js';
import type { RedisSubjectName } from './subjects.js';

export type RedisRow = Row<RedisSubjectName>;

/** The headers of the table's columns. */
export function redisHeaders(): Record<RedisSubjectName, string> {
  return {
    rollgate: `rollgate ${versionOf('@rollgate/redis')}`,
    'rollgate, sorted-set': `rollgate ${versionOf('@rollgate/redis')}, sorted-set`,
    'rate-limit-redis': `rate-limit-redis ${versionOf('rate-limit-redis')}`,
    'rate-limiter-flexible': `rate-limiter-flexible ${versionOf('rate-limiter-flexible')}`,
    'rolling-rate-limiter': `rolling-rate-limiter ${versionOf('rolling-rate-limiter')}`,
    'rollgate, two windows': `rollgate ${versionOf('@rollgate/redis')}, two windows on one key`,
    INCR: 'bare INCR',
    'INCR + PTTL': 'script of INCR and PTTL',
  };
}
