import { ENTRY_POINTS } from './api-reference/entry-points.mjs';

/** An entry point such as `@rollgate/core/store` before one such as `@rollgate/core`. */
const subpathsFirst = (one, other) => other.name.split('/').length - one.name.split('/').length;

/** @type {Partial<import('typedoc').TypeDocOptions & import('typedoc-plugin-markdown').PluginOptions>} */
export default {
  // TypeDoc numbers later pages of the same name. The interface `Store` of `core` has the name of the page `core/store`.
  entryPoints: ENTRY_POINTS.toSorted(subpathsFirst).map(({ file }) => file),
  sortEntryPoints: false,
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
