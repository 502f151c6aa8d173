import type { LogFormat } from './format.js';
import { createRecordParser } from './record-parser.js';

/** The format that `--pattern` describes. Its groups are the fields of each line. */
export function patternFormat(pattern: RegExp): LogFormat {
  const hasCosts = pattern.source.includes('(?<cost>');
  return {
    name: 'pattern',
    hasFields: true,
    hasCosts,
    isLike: (line) => pattern.test(line),
    createParser(wanted) {
      const { by, cost } = wanted;
      const isField = by.kind === 'field' && by.field !== undefined;
      const parse = createRecordParser(
        {
          ...wanted,
          by: { kind: by.kind, field: isField ? by.field : 'key' },
          cost: cost ?? (hasCosts ? 'cost' : undefined),
        },
        [],
      );
      return {
        parse: (line) => {
          const groups = pattern.exec(line)?.groups;
          return groups === undefined ? 'it does not match `--pattern`' : parse(groups);
        },
      };
    },
  };
}
