import { Converter, ReflectionKind } from 'typedoc';
import { ENTRY_POINTS } from './entry-points.mjs';

/** After all of TypeDoc's own steps, which copy the comments of inherited members. */
const LAST = -10_000;

/** A plugin of TypeDoc that adapts the reflections to the pages of the site. */
export function load(app) {
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, nameModules);
  app.converter.on(Converter.EVENT_RESOLVE_END, removeOrigins, LAST);
  app.converter.on(Converter.EVENT_RESOLVE_END, nameParameters, LAST);
}

/** Names each module after what users import, not after its source file. */
function nameModules(context) {
  for (const module of context.project.getReflectionsByKind(ReflectionKind.Module)) {
    const file = context.getSymbolFromReflection(module)?.declarations?.[0]?.getSourceFile().fileName;
    const entry = ENTRY_POINTS.find((each) => each.file === file);
    if (entry !== undefined) module.name = entry.name;
  }
}

/** TypeScript has no name for a parameter that a function takes apart. */
function nameParameters({ project }) {
  for (const parameter of project.getReflectionsByKind(ReflectionKind.Parameter)) {
    if (parameter.name === '__namedParameters') parameter.name = 'options';
  }
}

/** Members have their own comments, so a link to the interface that declares them adds nothing. */
function removeOrigins({ project }) {
  for (const reflection of project.getReflectionsByKind(ReflectionKind.All)) {
    delete reflection.inheritedFrom;
    delete reflection.implementationOf;
    delete reflection.overwrites;
  }
}
