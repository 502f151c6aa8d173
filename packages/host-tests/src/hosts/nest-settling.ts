import type { NestInterceptor } from '@nestjs/common';
import { settle } from '@rollgate/nestjs';

/** Settles each call by its context, before its handler runs. */
export const SETTLING: NestInterceptor = {
  async intercept(context, next) {
    await settle(context, { cost: 0 });
    return next.handle();
  },
};
