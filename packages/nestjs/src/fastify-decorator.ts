import type { HttpAdapterHost } from '@nestjs/core';

/** What the module uses of a Fastify app. */
interface FastifyApp {
  hasRequestDecorator(name: string): boolean;
  decorateRequest(name: string, value: null): void;
}

/** Over Fastify, makes `request.rateLimit` null until a limiter decides, unless its plugin has done so already. */
export function decorateFastifyRequests({ httpAdapter }: HttpAdapterHost): void {
  if (httpAdapter?.getType() !== 'fastify') return;
  const app: FastifyApp = httpAdapter.getInstance();
  if (!app.hasRequestDecorator('rateLimit')) app.decorateRequest('rateLimit', null);
}
