import type { Clock } from '@rollgate/core';
import { MS } from './algorithms/oracle.js';

/** A clock that a test sets, in whole microseconds. */
export class TestClock implements Clock {
  micros = 0;

  now(): number {
    return this.micros / MS;
  }
}
