import { type Calendar, LeasedCalendarWindow } from '@rollgate/calendar/window';
import { settle } from '@rollgate/express';
import { EXPRESSES, limitWith, memory, serve, until } from '@rollgate/host-tests/express-servers';

const YEAR = 365 * 24 * 3600e6;
const years: Calendar = {
  windowMicros: YEAR,
  longestMicros: YEAR,
  periodAt(micros) {
    const startMicros = Math.floor(micros / YEAR) * YEAR;
    return { startMicros, endMicros: startMicros + YEAR };
  },
};
const [, express] = EXPRESSES[0];

test('the end of a response spends what its request has reserved, and a settlement replaces it', async () => {
  const limits = new LeasedCalendarWindow({ limit: 100, calendar: years, lease: '10m' });
  const limit = limitWith({ limits, store: memory(), key: () => 'acme', cost: () => 30 });
  const usage = async () => {
    const { spent, reserved } = (await limit.limiter.peek('acme')).limits.default!;
    return { spent, reserved };
  };
  const seen: unknown[] = [];
  let isSettled = false;
  const { send } = await serve(express, [
    limit,
    async (req: object, _res: unknown, next: () => void) => {
      seen.push(await usage());
      if (isSettled) await settle(req, { cost: 12 });
      next();
    },
  ]);
  await send();
  await until(async () => (await usage()).spent === 30);
  isSettled = true;
  await send();
  await until(async () => (await usage()).reserved === 0);
  expect(seen).toEqual([
    { spent: 0, reserved: 30 },
    { spent: 30, reserved: 30 },
  ]);
  expect(await usage()).toEqual({ spent: 42, reserved: 0 });
});
