/** Replaces what is between the comments `<!-- name -->` and `<!-- end of name -->`. */
export function replaceSection(page: string, name: string, text: string): string {
  const [start, end] = [`<!-- ${name} -->\n\n`, `\n\n<!-- end of ${name} -->`];
  const [from, to] = [page.indexOf(start), page.indexOf(end)];
  if (from < 0 || to < 0) throw new Error(`Expected \`<!-- ${name} -->\` and \`<!-- end of ${name} -->\` on the page`);
  return page.slice(0, from + start.length) + text + page.slice(to);
}
