import type { Limits } from '@rollgate/core';
import { invalidOption } from '@rollgate/core/store';
import { DIMENSION_NAME, DIMENSIONS, PARTITION, unusedPartitionMessage } from '../base/error-texts.js';
import { limitsByName } from '../base/limits-by-name.js';
import { optionError } from '../base/option-error.js';
import type { Headers } from './header-options.js';

/** What parts of a request make up the keys of all limits, or of each limit by its name. */
export type Partition = readonly string[] | Readonly<Record<string, readonly string[]>>;

/** A key of a structured field (RFC 9651, section 3.1.2). */
const DIMENSION = /^[a-z*][a-z0-9_.*-]*$/;

/** @throws TypeError if it contains anything but names of dimensions. */
export function parsePartition(name: string, value: unknown): Partition | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'object' || value === null) {
    throw invalidOption(name, PARTITION, value);
  }
  const lists = Array.isArray(value)
    ? [[name, value]]
    : Object.entries(value).map(([key, of]) => [`${name}.${key}`, of]);
  for (const [place, list] of lists) {
    if (!Array.isArray(list) || list.length === 0) throw invalidOption(place, DIMENSIONS, list);
    for (const [index, dimension] of list.entries()) {
      if (typeof dimension === 'string' && DIMENSION.test(dimension)) continue;
      throw invalidOption(`${place}[${index}]`, DIMENSION_NAME, dimension);
    }
  }
  return value as Partition;
}

/** @throws Error if the headers do not include the partition. */
export function validatePartitionHeaders(partition: Partition | undefined, headers: Headers): void {
  if (partition === undefined || headers === 'draft-12') return;
  throw optionError(unusedPartitionMessage(headers));
}

/**
 * Creates the function that returns the value of `RateLimit-Partition` (the editor's copy of draft 12, section 4). The value has
 * each limit's name, and the dimensions that make up its keys. It contains no key, so it discloses nothing about the client. It
 * is empty without such a limit.
 */
export function createPartitionValue(partition: Partition): (limits: Limits) => string {
  const dimensionsOf = (name: string): readonly string[] | undefined =>
    Array.isArray(partition) ? partition : (partition as Readonly<Record<string, readonly string[]>>)[name];
  const values = new WeakMap<object, string>();
  return (limits) => {
    let value = values.get(limits);
    if (value === undefined) {
      value = Object.keys(limitsByName(limits))
        .filter((name) => dimensionsOf(name) !== undefined)
        .map((name) => [`"${name}"`, ...dimensionsOf(name)!].join(';'))
        .join(', ');
      values.set(limits, value);
    }
    return value;
  };
}
