const DOC_COMMENT = /\/\*\*([\s\S]*?)\*\//g;

/**
 * The doc comments of a TypeScript file as Markdown, each with the line on which it starts. Tags such as `@param` begin a
 * paragraph of their own, and the name after them counts as code.
 */
export function docComments(source) {
  return Array.from(source.matchAll(DOC_COMMENT), ({ index, 1: body }) => ({
    line: source.slice(0, index).split('\n').length,
    markdown: body
      .split('\n')
      .map((line) => line.replace(/^\s*\*? ?/, ''))
      .map((line) => line.replace(/^@(?:param|template) (\S+)/, '\n`$1`').replace(/^@(\w+)/, '\n`$1`'))
      .join('\n')
      .replace(/\{@link ([^}]*)\}/g, '`$1`'),
  }));
}
