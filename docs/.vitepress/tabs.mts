import type { MarkdownRenderer } from 'vitepress';

/** A token of markdown-it. */
type Token = ReturnType<MarkdownRenderer['parse']>[number];

const [START, END] = ['<!-- tabs -->', '<!-- end of tabs -->'];

/**
 * Turns the sections between the comments `<!-- tabs -->` and `<!-- end of tabs -->` into tabs, one for each heading of the
 * third level. They are radio buttons, so they work without a script. Elsewhere, the page reads as usual Markdown.
 */
export function addTabs(markdown: MarkdownRenderer): void {
  markdown.core.ruler.push('tabs', (state) => {
    const start = state.tokens.findIndex((token) => isComment(token, START));
    if (start < 0) return;
    const end = state.tokens.findIndex((token) => isComment(token, END));
    if (end < start) throw new Error(`Expected \`${END}\` after \`${START}\` in ${state.env.relativePath}`);
    const html = (content: string): Token => Object.assign(new state.Token('html_block', '', 0), { content });
    const sections = toSections(state.tokens.slice(start + 1, end));
    const tabs = sections.flatMap(({ title, tokens }, index) => [
      html(tabOf(title, index)),
      ...tokens,
      html('</div>\n'),
    ]);
    const group = '<div class="framework-tabs" role="radiogroup" aria-label="Framework">\n';
    state.tokens.splice(start, end - start + 1, html(group), ...tabs, html('</div>\n'));
  });
}

function isComment({ type, content }: Token, comment: string): boolean {
  return type === 'html_block' && content.trim() === comment;
}

/** The headings of the third level, each with the tokens that follow it. */
function toSections(tokens: readonly Token[]): { title: string; tokens: Token[] }[] {
  const sections: { title: string; tokens: Token[] }[] = [];
  for (const [index, token] of tokens.entries()) {
    const isHeading = (at: number) => tokens[at]?.type === 'heading_open' && tokens[at]?.tag === 'h3';
    if (isHeading(index)) sections.push({ title: tokens[index + 1]!.content, tokens: [] });
    else if (!isHeading(index - 1) && !isHeading(index - 2)) sections.at(-1)?.tokens.push(token);
  }
  return sections;
}

function tabOf(title: string, index: number): string {
  const id = `tab-${index}`;
  const input = `<input type="radio" name="tabs" id="${id}"${index === 0 ? ' checked' : ''}>`;
  return `${input}<label for="${id}">${title}</label><div class="panel">\n`;
}
