import type { Reply } from './session.js';

/** The usual order and spelling of the headers. */
const HEADERS = [
  'Retry-After',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit-Policy',
  'RateLimit',
  'Content-Type',
];

const REASONS: Readonly<Record<number, string>> = { 200: 'OK', 429: 'Too Many Requests' };

/** Shows a response as it was sent. The wait counts down. */
export function showResponse(place: HTMLElement, reply: Reply | undefined): void {
  if (reply === undefined) {
    setHtml(place, 'Send a request to see its response.');
    return;
  }
  const { status, headers, arrivedMs } = reply;
  const lines = HEADERS.flatMap((name) => {
    const value = headers.get(name);
    if (value === null) return [];
    const text = `<span class="header">${name}</span>: ${escapeHtml(value)}`;
    if (name !== 'Retry-After') return [text];
    const waitMs = Number(value) * 1000 - (performance.now() - arrivedMs);
    const left = waitMs > 0 ? `${Math.ceil(waitMs / 1000)} s to go` : 'over';
    return [`<span class="wait">${text} <span class="left">(${left})</span></span>`];
  });
  const kind = status === 429 ? 'bad' : 'good';
  setHtml(place, [`HTTP/1.1 <b class="${kind}">${status} ${REASONS[status] ?? ''}</b>`, ...lines].join('\n'));
}

/** Changes an element only if it differs, so that a selection stays. */
function setHtml(place: HTMLElement, html: string): void {
  if (place.dataset['html'] === html) return;
  place.dataset['html'] = html;
  place.innerHTML = html;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (character) => ENTITIES[character]!);
