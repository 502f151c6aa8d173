import { element } from './elements.js';

/** The fields that tell a client where it stands, as people write them. */
const FIELDS = [
  'Retry-After',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit-Policy',
  'RateLimit',
];

/** How a request can end, and how it is told. */
const ENDINGS = { allowed: 'allowed', rejected: 'rejected', failed: 'failed' } as const;

export const outcomeOf = ({ ok, status }: Response): keyof typeof ENDINGS =>
  ok ? 'allowed' : status === 429 ? 'rejected' : 'failed';

const status = element('#status');
const fields = element('#fields');

/** Shows what the server answered last, to a request of this page. */
export function showResponse(response: Response): void {
  const strong = document.createElement('b');
  strong.textContent = `${response.status} ${response.statusText}`;
  status.replaceChildren(strong, `, ${ENDINGS[outcomeOf(response)]}`);
  fields.replaceChildren(
    ...FIELDS.flatMap((name) => {
      const value = response.headers.get(name);
      return value === null ? [] : [field(name, value)];
    }),
  );
}

function field(name: string, value: string): HTMLElement {
  const pair = document.createElement('div');
  const term = document.createElement('dt');
  const description = document.createElement('dd');
  term.textContent = name;
  description.textContent = value;
  pair.append(term, description);
  return pair;
}
