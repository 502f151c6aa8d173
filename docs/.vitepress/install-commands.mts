import type { MarkdownRenderer } from 'vitepress';

/** A fence whose only command installs packages. */
const COMMAND = /^npm install (--save-dev )?([@\w][\w@./-]*(?: [@\w][\w@./-]*)*)$/;

/** Adds a choice of the package manager to each command that installs packages. */
export function addInstallCommands(markdown: MarkdownRenderer): void {
  const { fence } = markdown.renderer.rules;
  markdown.renderer.rules.fence = (tokens, index, ...rest) => {
    const { info, content } = tokens[index]!;
    const [command, dev, packages] = (info.trim() === 'sh' && COMMAND.exec(content.trim())) || [];
    if (command === undefined) return fence!(tokens, index, ...rest);
    // The search indexes the content of the tag.
    return `<InstallCommand packages="${packages}"${dev ? ' dev' : ''}>${command}</InstallCommand>\n`;
  };
}
