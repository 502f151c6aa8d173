import { ConfigurableModuleBuilder, Global, Inject, Module } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import type { RateLimitModuleOptions } from './options.js';
import { RATE_LIMIT_OPTIONS, RateLimitGuard } from './rate-limit-guard.js';
import { RouteLimiters } from './route-limiters.js';

const { ConfigurableModuleClass } = new ConfigurableModuleBuilder<RateLimitModuleOptions>({
  optionsInjectionToken: RATE_LIMIT_OPTIONS,
})
  .setClassMethodName('forRoot')
  .build();

/**
 * Provides the options of the limit, and the guard. Import `RateLimitModule.forRoot(options)` once, or
 * `RateLimitModule.forRootAsync({ useFactory, inject })` to create the options from other providers.
 *
 * It is a global module, so that guards of all modules get the options.
 */
export class RateLimitModule extends ConfigurableModuleClass {
  /** Nest injects the arguments. */
  constructor(options: RateLimitModuleOptions, modules: ModulesContainer) {
    super();
    RouteLimiters.of(options).useModules(modules);
  }
}
Inject(RATE_LIMIT_OPTIONS)(RateLimitModule, undefined, 0);
Inject(ModulesContainer)(RateLimitModule, undefined, 1);
Module({ providers: [RateLimitGuard], exports: [RateLimitGuard, RATE_LIMIT_OPTIONS] })(RateLimitModule);
Global()(RateLimitModule);
