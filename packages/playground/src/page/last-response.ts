import { element } from './elements.js';

/** The rate limit headers, in their usual spelling. */
const HEADERS = [
  'Retry-After',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit-Policy',
  'RateLimit',
];

/** The outcomes of a request, with their texts. */
const OUTCOMES = { allowed: 'allowed', rejected: 'rejected', failed: 'failed' } as const;

export const outcomeOf = ({ ok, status }: Response): keyof typeof OUTCOMES =>
  ok ? 'allowed' : status === 429 ? 'rejected' : 'failed';

const status = element('#status');
const headers = element('#fields');

/** Shows the server's last response to a request of this page. */
export function showResponse(response: Response): void {
  const strong = document.createElement('b');
  strong.textContent = `${response.status} ${response.statusText}`;
  status.replaceChildren(strong, `, ${OUTCOMES[outcomeOf(response)]}`);
  headers.replaceChildren(
    ...HEADERS.flatMap((name) => {
      const value = response.headers.get(name);
      return value === null ? [] : [headerRow(name, value)];
    }),
  );
}

function headerRow(name: string, value: string): HTMLElement {
  const pair = document.createElement('div');
  const term = document.createElement('dt');
  const description = document.createElement('dd');
  term.textContent = name;
  description.textContent = value;
  pair.append(term, description);
  return pair;
}
