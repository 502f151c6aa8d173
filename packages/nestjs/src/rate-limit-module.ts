import { ConfigurableModuleBuilder, Global, Module } from '@nestjs/common';
import type { RateLimitModuleOptions } from './options.js';
import { RATE_LIMIT_OPTIONS, RateLimitGuard } from './rate-limit-guard.js';

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
export class RateLimitModule extends ConfigurableModuleClass {}
Module({ providers: [RateLimitGuard], exports: [RateLimitGuard, RATE_LIMIT_OPTIONS] })(RateLimitModule);
Global()(RateLimitModule);
