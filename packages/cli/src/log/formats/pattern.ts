import type { LogFormat } from './format.js';
import { createRecordParser } from './record-parser.js';

/** The format that `--pattern` describes. Its groups are the fields of each line. */
export function createPatternFormat(pattern: RegExp): LogFormat {
  const hasCosts = pattern.source.includes('(?<cost>');
  return {
    name: 'pattern',
    hasFields: true,
    hasCosts,
    isLike: (line) => pattern.test(line),
    createParser(selectors) {
      const { keySource, cost } = selectors;
      const isField = keySource.kind === 'field' && keySource.field !== undefined;
      const parse = createRecordParser(
        {
          ...selectors,
          keySource: { kind: keySource.kind, field: isField ? keySource.field : 'key' },
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
