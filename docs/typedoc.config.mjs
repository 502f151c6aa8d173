import { ENTRY_POINTS } from './api-reference/entry-points.mjs';

/** @type {Partial<import('typedoc').TypeDocOptions & import('typedoc-plugin-markdown').PluginOptions>} */
export default {
  entryPoints: ENTRY_POINTS.map(({ file }) => file),
  tsconfig: 'tsconfig.json',
  plugin: ['typedoc-plugin-markdown', './api-reference/package-names.mjs'],
  out: 'api',
  parametersFormat: 'table',
  entryFileName: 'index',
  hideBreadcrumbs: true,
  useHTMLEncodedBrackets: true,
  sanitizeComments: true,
  readme: 'none',
  excludeInternal: true,
  excludePrivate: true,
  excludeExternals: true,
  disableSources: true,
  outputFileStrategy: 'modules',
  packagesRequiringDocumentation: [...new Set(ENTRY_POINTS.map(({ packageName }) => packageName))],
  validation: { notDocumented: true, notExported: true, invalidLink: true },
  treatWarningsAsErrors: true,
};
