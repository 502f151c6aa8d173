import { BANNED, BRITISH, MOST_COLONS, MOST_HEADING_WORDS, MOST_WORDS } from './rules.mjs';
import { wordCount } from './sentences.mjs';

/** What breaks a rule in these units, as `{ line, message }`. */
export function problemsIn(units) {
  return [...units.flatMap(unitProblems), ...paragraphProblems(units)].sort((one, other) => one.line - other.line);
}

function unitProblems(unit) {
  const messages = [
    ...BANNED.flatMap(([pattern, instead]) =>
      pattern.test(unit.text) ? [`"${found(pattern, unit)}": ${instead}`] : [],
    ),
    ...BRITISH.flatMap(([pattern, american]) =>
      pattern.test(unit.text) ? [`"${found(pattern, unit)}": American spelling is "${american}"`] : [],
    ),
    ...(unit.kind === 'heading' ? headingMessages(unit.text) : lengthMessages(unit.text)),
  ];
  return messages.map((message) => ({ line: unit.line, message }));
}

function found(pattern, { text }) {
  return pattern.exec(text)[0].trim();
}

function headingMessages(text) {
  const messages = [];
  const isTwoSentences = /\w\. .+\.$/.test(text); // They need the last period as well.
  if (/[.:;!?]$/.test(text) && !isTwoSentences) messages.push(`Heading "${text}" ends with punctuation`);
  if (wordCount(text) > MOST_HEADING_WORDS)
    messages.push(`Heading "${text}" has more than ${MOST_HEADING_WORDS} words`);
  return messages;
}

function lengthMessages(text) {
  const words = wordCount(text);
  return words > MOST_WORDS ? [`${words} words in one sentence, at most ${MOST_WORDS}: "${text.slice(0, 60)}…"`] : [];
}

function paragraphProblems(units) {
  return Array.from(groupByParagraph(units).values()).flatMap((sentences) => {
    const colons = sentences.map(({ text }) => colonCount(text)).reduce((sum, count) => sum + count, 0);
    if (colons <= MOST_COLONS) return [];
    return [
      { line: sentences[0].line, message: `${colons} colons or semicolons in one paragraph, at most ${MOST_COLONS}` },
    ];
  });
}

function groupByParagraph(units) {
  const paragraphs = new Map();
  for (const unit of units) {
    if (unit.kind !== 'sentence') continue;
    if (!paragraphs.has(unit.paragraph)) paragraphs.set(unit.paragraph, []);
    paragraphs.get(unit.paragraph).push(unit);
  }
  return paragraphs;
}

/** Colons and semicolons that join clauses: not those of a time, an address or a ratio. */
export function colonCount(text) {
  return (text.match(/[:;](?=\s|$)/g) ?? []).length;
}
