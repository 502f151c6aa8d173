import 'reflect-metadata';
import type { Server } from 'node:http';
import { type ExecutionContext, Module, type Type } from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import { Context, GraphQLModule, Query, Resolver } from '@nestjs/graphql';
import { MercuriusDriver, type MercuriusDriverConfig } from '@nestjs/mercurius';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { type Decision, RateLimit, RateLimitGuard, RateLimitModule, SkipRateLimit, settle } from '@rollgate/nestjs';
import { decorate } from '../decorate.js';

const warnings: string[] = [];
process.on('warning', (warning) => warnings.push((warning as { code?: string }).code ?? warning.message));

interface GraphqlRequest {
  readonly req: { readonly rateLimit?: Decision; readonly headers: Record<string, string> };
}

class BookResolver {
  book({ req }: GraphqlRequest): string {
    return `${req.rateLimit?.remaining} remain`;
  }
  problem(): string {
    return 'a book';
  }
  async free({ req }: GraphqlRequest): Promise<string> {
    await settle(req, { cost: 0 });
    return 'refunded';
  }
  warnings(): string {
    return warnings.join(' ');
  }
}
const key = (context: ExecutionContext) => context.getArgByIndex<GraphqlRequest>(2).req.headers['x-client'] ?? 'nobody';
decorate(BookResolver, 'book', [Query(() => String)]);
decorate(BookResolver, 'problem', [Query(() => String), RateLimit({ limit: 1, problem: true })]);
decorate(BookResolver, 'free', [Query(() => String), RateLimit({ limit: 1 })]);
decorate(BookResolver, 'warnings', [Query(() => String), SkipRateLimit()]);
for (const method of ['book', 'free']) Context()(BookResolver.prototype, method, 0);
Resolver()(BookResolver);

class GraphqlModule {}
Module({
  imports: [
    GraphQLModule.forRoot<MercuriusDriverConfig>({ driver: MercuriusDriver, autoSchemaFile: true }),
    RateLimitModule.forRoot({ limit: 2, window: '1h', key }),
  ],
  providers: [BookResolver, { provide: APP_GUARD, useClass: RateLimitGuard }],
})(GraphqlModule);

export async function createNestGraphql(): Promise<Server> {
  const app = await NestFactory.create<NestFastifyApplication>(GraphqlModule as Type, new FastifyAdapter(), {
    logger: false,
  });
  await app.init();
  await app.getHttpAdapter().getInstance().ready();
  return app.getHttpServer();
}
