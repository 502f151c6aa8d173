import type { AddressInfo } from 'node:net';
import { toFigure, whole } from '../../table.js';
import type { Probe } from '../probe.js';

const ADDRESSES = 100;

export const ipv6Network: Probe = {
  title: 'allowed to an IPv6 network, limit 10',
  method: `Sends ${ADDRESSES} requests through a trusted proxy, each from a different address in one /64 network, which usually belongs to a single client. A limiter that counts the network as one client allows 10.`,
  async run(library) {
    if (library.serve === undefined) return undefined;
    const server = await library.serve({ limit: 10, windowMs: 60_000 });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    let allowed = 0;
    for (let host = 1; host <= ADDRESSES; host++) {
      const { status } = await fetch(url, { headers: { 'x-forwarded-for': `2001:db8:1:2::${host.toString(16)}` } });
      if (status === 200) allowed += 1;
    }
    return toFigure(allowed, whole);
  },
};
