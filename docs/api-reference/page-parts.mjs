// The parts of a page that TypeDoc has written: a section for each kind, and in it a part for each symbol.

/** The kinds in the order of the pages, with the file of each if a page is split. */
export const KINDS = {
  Functions: 'functions',
  Classes: 'classes',
  Interfaces: 'interfaces',
  'Type Aliases': 'types',
  Variables: 'variables',
  References: 'references',
};

/** What most readers of an adapter look for. */
const FIRST = /^rateLimit\b/;

/** Splits a page into `{ title, kinds: [{ kind, symbols: [{ heading, text }] }] }`, in the order in which readers need it. */
export function parsePage(text) {
  const [head, ...sections] = text.split(/^(?=## )/m);
  const [, title] = /^# (.+)$/m.exec(head);
  const kinds = sections.map((section) => {
    const [first, ...parts] = section.split(/^(?=### )/m);
    const symbols = parts.map((part) => ({ heading: /^### (.+)$/m.exec(part)[1], text: withoutRule(part) }));
    return { kind: first.slice(3).trim(), symbols: symbols.sort((a, b) => rank(a) - rank(b)) };
  });
  return { title, kinds: kinds.sort((a, b) => rankOfKind(a) - rankOfKind(b)) };
}

/** The first sentence of a symbol's description, or an empty text. */
export function summaryOf({ text }) {
  const paragraphs = text.split(/\n{2,}/).slice(1);
  const found = paragraphs.find((paragraph) => /^[\p{Letter}`]/u.test(paragraph.trim())) ?? '';
  const line = found.replace(/\s+/g, ' ').trim();
  return /^(.+?[.])(?: [A-Z`@]|$)/.exec(line)?.[1] ?? line;
}

/** The name of a symbol without the parentheses of a function and the escapes of Markdown. */
export function nameOf({ heading }) {
  return heading.replace(/\(\)$/, '').replaceAll('\\', '');
}

function withoutRule(part) {
  return part.replace(/\n\*\*\*\s*$/, '').trim();
}

function rank({ heading }) {
  return FIRST.test(heading) ? 0 : 1;
}

/** The section with `rateLimit` comes first, whatever its kind is. */
function rankOfKind({ kind, symbols }) {
  const index = Object.keys(KINDS).indexOf(kind);
  return symbols.some(({ heading }) => /^rateLimit(?:\(\))?$/.test(heading)) ? -1 : index < 0 ? Infinity : index;
}
