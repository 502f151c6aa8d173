import { decisions } from './cases/decisions.js';
import { rejections } from './cases/rejections.js';
import { responseEnd } from './cases/response-end.js';

/** The cases that every host passes, by their titles. */
export const cases = { ...decisions, ...rejections, ...responseEnd };

/** Why a host cannot have a case. */
export type Exclusions = Readonly<Record<string, string>>;
