import { createBottleneck } from './bottleneck.js';
import { createEffect } from './effect.js';
import type { CreateCall } from './library.js';
import { createOctokit } from './octokit.js';
import { createDividedThrottle, createFullThrottle } from './p-throttle.js';
import { createRollgate } from './rollgate.js';

export const LIBRARIES = {
  rollgate: createRollgate,
  bottleneck: createBottleneck,
  effect: createEffect,
  octokit: createOctokit,
  'p-throttle': createFullThrottle,
  'p-throttle, divided': createDividedThrottle,
} as const satisfies Readonly<Record<string, CreateCall>>;

export type OutgoingLibrary = keyof typeof LIBRARIES;
