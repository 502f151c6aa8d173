import { ACCESS_LOG_VECTORS } from './access-log-vectors';
import { FIELD_VECTORS } from './field-vectors';
import type { ProblemVector, Vector } from './vector';
import { WRAPPER_VECTORS } from './wrapper-vectors';

const UNKNOWN = /it is in no known format; describe it with `--pattern`: /;
const NO_TIME = /it has no time in a field with a common name; name it with `--time-field`: /;

const PROBLEM_VECTORS: readonly ProblemVector[] = [
  { sample: 'plain.log.xz', message: /it is xz data; pipe it in: `xz -dc plain\.log\.xz \| rollgate …`/ },
  { sample: 'plain.log.zst', message: /it is zstd data; pipe it in: `zstd -dc plain\.log\.zst \| rollgate …`/ },
  { sample: 'plain.log.bz2', message: /it is bzip2 data; pipe it in: `bzip2 -dc plain\.log\.bz2 \| rollgate …`/ },
  { sample: 'nginx-msec.log', message: UNKNOWN },
  { sample: 'csv.log', message: UNKNOWN },
  { sample: 'rails.log', message: UNKNOWN },
  { sample: 'uvicorn.log', message: UNKNOWN },
  { sample: 'morgan-dev.log', message: UNKNOWN },
  { sample: 'nginx-error.log', message: UNKNOWN },
  { sample: 'prose.log', message: UNKNOWN },
  { sample: 'syslog-without-year.log', message: NO_TIME },
  { sample: 'json-without-time.log', message: NO_TIME },
  { sample: 'cloudtrail.log', message: NO_TIME },
  { sample: 'json-array.log', message: /it is a JSON array; write one object per line with `jq -c "\.\[\]"`: / },
];

export const VECTORS: readonly Vector[] = [...ACCESS_LOG_VECTORS, ...FIELD_VECTORS, ...WRAPPER_VECTORS];
export { PROBLEM_VECTORS };
