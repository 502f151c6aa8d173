import type { LastResponse } from '../shared/protocol.js';
import { element } from './elements.js';

const status = element('#status');
const fields = element('#fields');
const none = status.textContent;
let shown: string | undefined;

/** Shows the last response, or none after a reset. */
export function showResponse(response: LastResponse | undefined): void {
  const text = JSON.stringify(response);
  if (text === shown) return;
  shown = text;
  if (response === undefined) {
    status.textContent = none;
    fields.replaceChildren();
    return;
  }
  const strong = document.createElement('b');
  strong.textContent = response.status;
  status.replaceChildren(strong, `, ${response.outcome}`);
  fields.replaceChildren(...response.fields.map(([name, value]) => createField(name, value)));
}

function createField(name: string, value: string): HTMLElement {
  const pair = document.createElement('div');
  const term = document.createElement('dt');
  const description = document.createElement('dd');
  term.textContent = name;
  description.textContent = value;
  pair.append(term, description);
  return pair;
}
