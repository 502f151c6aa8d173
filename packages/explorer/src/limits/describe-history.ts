import { type Scenario, STEP_BACK_MICROS } from './scenario.js';
import { decodeStep } from './steps.js';

export function describeHistory({ calls }: Scenario, codes: readonly number[]): string {
  return codes.map((code) => describeStep(calls, code)).join('\n');
}

const OF_CHECKS = { refund: 'refund', release: 'release', renew: 'renewal', settle: 'settlement' };

function describeStep(calls: Scenario['calls'], code: number): string {
  const step = decodeStep(code);
  if ('micros' in step) {
    return step.kind === 'tick' ? `${step.micros} µs pass` : `the clock steps back by ${STEP_BACK_MICROS} µs`;
  }
  if ('receipt' in step) {
    const cost = 'cost' in step ? `, to ${step.cost}` : '';
    return `${OF_CHECKS[step.kind]} of the ${step.receipt + 1}. check that can be refunded${cost}`;
  }
  const { specs, keys } = calls[step.call]!;
  const limits = Object.entries(specs).map(([name, { algorithm, options }]) => {
    return `${name}: ${algorithm}(${JSON.stringify(options)}) on '${keys[name]}'`;
  });
  const cost = 'cost' in step ? `, cost ${step.cost}` : '';
  return `${step.kind} { ${limits.join(', ')} }${cost}`;
}
