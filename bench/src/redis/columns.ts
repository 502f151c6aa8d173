import { versionOf } from '../machine.js';
import type { Row } from '../table.js';
import type { RedisSubjectName } from './subjects.js';

export type RedisRow = Row<RedisSubjectName>;

/** The headers of the table's columns. */
export function redisHeaders(): Record<RedisSubjectName, string> {
  return {
    'rollgate, packed': `rollgate ${versionOf('@rollgate/redis')}, packed`,
    'rollgate, sorted-set': `rollgate ${versionOf('@rollgate/redis')}, sorted-set`,
    'rate-limit-redis': `rate-limit-redis ${versionOf('rate-limit-redis')}`,
    'rate-limiter-flexible': `rate-limiter-flexible ${versionOf('rate-limiter-flexible')}`,
    'rolling-rate-limiter': `rolling-rate-limiter ${versionOf('rolling-rate-limiter')}`,
    INCR: 'bare INCR',
    'INCR + PTTL': 'script of INCR and PTTL',
    EVALSHA: "our packed log's script, plain EVALSHA",
  };
}
