import { parse } from '@textlint/markdown-to-ast';
import { splitAST } from 'sentence-splitter';

/** @typedef {{ kind: 'sentence' | 'heading' | 'cell', text: string, line: number, paragraph: number }} Unit */

/**
 * The sentences, headings and table cells of a Markdown text. Code spans become the word "code", so that they count as
 * one word and match no phrase.
 *
 * @returns {Unit[]}
 */
export function textUnits(markdown, firstLine = 1) {
  const units = [];
  let paragraph = 0;
  const visit = (node) => {
    if (node.type === 'Header') return add('heading', node, plainText(node));
    if (node.type === 'TableCell') return add('cell', node, plainText(node));
    if (node.type === 'Paragraph') {
      paragraph += 1;
      for (const part of splitAST(node).children) {
        if (part.type === 'Sentence') add('sentence', part, plainText(part));
      }
      return;
    }
    for (const child of node.children ?? []) visit(child);
  };
  const add = (kind, node, text) => {
    if (/\p{Letter}/u.test(text)) units.push({ kind, text, paragraph, line: firstLine + node.loc.start.line - 1 });
  };
  visit(parse(markdown));
  return units;
}

function plainText(node) {
  if (node.type === 'Code') return 'code';
  if (node.type === 'Image' || node.type === 'Html') return '';
  if (node.type === 'Break') return ' ';
  if (node.children !== undefined) return node.children.map(plainText).join('').trim();
  return (node.value ?? '').replace(/\s+/g, ' ');
}

/** How many words a text has; a number or a path counts as one. */
export function wordCount(text) {
  return text.split(/\s+/).filter((word) => /[\p{Letter}\p{Number}]/u.test(word)).length;
}
