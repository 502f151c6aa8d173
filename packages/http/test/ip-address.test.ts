import assert from 'node:assert/strict';
import { createClientKey } from '@rollgate/http';
import { randomRuns } from '@rollgate/test-support/effort';
import fc from 'fast-check';
import ipaddr from 'ipaddr.js';

const GROUP = fc.oneof(
  fc.constantFrom('0', '0000', 'ffff', 'FE80', 'febf', '64', 'ff9b', '1', '00ab', 'x', '12345', ''),
  fc.nat(0xffff).map((group) => group.toString(16)),
);
const DOTTED = fc.oneof(fc.ipV4(), fc.constantFrom('0.0.0.0', '255.255.255.255', '1.2.3.256', '1.2.3'));
const ZONE = fc.constantFrom('', '', '', '%eth0', '%1', '%', '%a%b');

/** IPv6 addresses in all notations, and texts that are nearly addresses. */
const TEXT = fc.oneof(
  fc.ipV6(),
  fc
    .tuple(fc.array(GROUP, { maxLength: 9 }), fc.array(GROUP, { maxLength: 5 }), fc.constantFrom('::', ':'), DOTTED)
    .chain(([start, end, separator, dotted]) =>
      fc.constantFrom(
        start.join(':'),
        `${start.join(':')}${separator}${end.join(':')}`,
        `${start.join(':')}${separator}${dotted}`,
        `::ffff:${dotted}`,
        `64:ff9b::${dotted}`,
        `::ffff:0:${dotted}`,
        `0:0:0:0:0:0:${dotted}`,
      ),
    ),
  fc.string({ unit: fc.constantFrom(...'0:1fF.%/[]@#\n\t ') }),
);

/** The key by ipaddr.js, or `undefined` for text that is not an address. */
function expectedKey(text: string, prefix: number): string | undefined {
  if (!text.includes(':') || !ipaddr.isValid(text)) return undefined;
  const parsed = ipaddr.process(text);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  if (parsed.range() === 'linkLocal') return parsed.toString();
  const bytes = parsed.toByteArray();
  const isCompatible = bytes.slice(0, 12).every((byte) => byte === 0) && bytes[12] !== 0;
  const isTranslated = parsed.range() === 'rfc6145' || (parsed.range() === 'rfc6052' && bytes[5] === 0);
  if (isCompatible || isTranslated) return new ipaddr.IPv4(bytes.slice(-4)).toString();
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${text.split('%')[0]}/${prefix}`)}/${prefix}`;
}

test('keys of IPv6 addresses in any notation agree with another library', () => {
  fc.assert(
    fc.property(TEXT, ZONE, fc.integer({ min: 1, max: 128 }), (address, zone, prefix) => {
      const text = address + zone;
      // These are cut without parsing: brackets, ports, and addresses of a socket for both families.
      fc.pre(!/^\[|^(?:::ffff:)?[\d.]+:\d+$|^::ffff:[^:]*\./i.test(text));
      fc.pre(!/^::[\d.]+$/.test(address)); // The other library mistakes `::1.2.3.4` for `::ffff:1.2.3.4`.
      assert.equal(createClientKey(prefix)(text), expectedKey(text, prefix) ?? text.slice(0, 64));
    }),
    randomRuns(2000, 200_000),
  );
});
