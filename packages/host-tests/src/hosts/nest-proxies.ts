import 'reflect-metadata';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import { Controller, Get, type INestApplication, Module, type Type } from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { decorate } from '../decorate.js';

class PingController {
  ping(): string {
    return 'pong';
  }
}
decorate(PingController, 'ping', [Get()]);
Controller()(PingController);

const require = createRequire(import.meta.url);

/** Loads a copy of the package that has emitted no warning yet. */
function loadFreshPackage(): typeof import('@rollgate/nestjs') {
  for (const file of Object.keys(require.cache)) {
    if (/[\\/](?:nestjs|http|core)[\\/]dist[\\/]/.test(file) && !file.includes('@nestjs')) delete require.cache[file];
  }
  return require('@rollgate/nestjs');
}

async function createApp(
  platform: 'Express' | 'Fastify',
  trusted: TrustSetting,
  limit: number,
): Promise<INestApplication> {
  const { RateLimitGuard, RateLimitModule } = loadFreshPackage();
  class AppModule {}
  Module({
    imports: [RateLimitModule.forRoot({ limit, window: '1h' })],
    controllers: [PingController],
    providers: [{ provide: APP_GUARD, useExisting: RateLimitGuard }],
  })(AppModule);
  if (platform === 'Fastify') {
    const adapter = new FastifyAdapter({ trustProxy: trusted as boolean });
    return NestFactory.create<NestFastifyApplication>(AppModule as Type, adapter, { logger: false });
  }
  const app = await NestFactory.create<NestExpressApplication>(AppModule as Type, { logger: false });
  app.set('trust proxy', trusted);
  return app;
}

/** A value of Express's `trust proxy`, or of Fastify's `trustProxy`. */
export type TrustSetting = boolean | string | number;

/** Returns the statuses of two requests of a client and one of another, whose requests have no `ip` as with adapters of other hosts. */
export async function statusesWithoutIp(): Promise<number[]> {
  const app = await createApp('Express', false, 1);
  app.use((incoming: object, _response: unknown, next: () => void) => {
    Object.defineProperty(incoming, 'ip', { value: undefined });
    next();
  });
  await app.listen(0, '127.0.0.1');
  const url = await app.getUrl();
  const statuses: number[] = [];
  for (const localAddress of ['127.0.0.1', '127.0.0.1', '127.0.0.2']) {
    const [response] = (await once(get(url, { localAddress, agent: false }), 'response')) as [IncomingMessage];
    response.resume();
    statuses.push(response.statusCode!);
  }
  await app.close();
  return statuses;
}

/** Returns the codes of the warnings about the proxies of an app with this setting, and the remaining requests of four clients. */
export async function warningsWith(platform: 'Express' | 'Fastify', trusted: TrustSetting): Promise<object> {
  const app = await createApp(platform, trusted, 9);
  await app.listen(0, '127.0.0.1');
  const codes: unknown[] = [];
  const { emitWarning } = process;
  process.emitWarning = (_message: unknown, options: unknown) => codes.push((options as { code?: string }).code);
  const remaining: number[] = [];
  for (let client = 1; client <= 4; client++) {
    const response = await fetch(await app.getUrl(), { headers: { 'x-forwarded-for': `198.51.100.${client}` } });
    remaining.push(Number(response.headers.get('x-ratelimit-remaining')));
  }
  process.emitWarning = emitWarning;
  await app.close();
  return { codes, remaining };
}
