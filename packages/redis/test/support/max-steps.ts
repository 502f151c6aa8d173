import assert from 'node:assert/strict';
import { MAX_STEPS, maxStepsLine } from '../../src/script/script-builder.js';

/** The same script with another step limit, so that a small batch takes several scripts. */
export function withMaxSteps(text: string, maxSteps: number): string {
  const line = maxStepsLine(MAX_STEPS);
  assert(text.startsWith(line), `Expected the script to start with ${line}`);
  return maxStepsLine(maxSteps) + text.slice(line.length);
}
