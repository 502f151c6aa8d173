import { Converter, ReflectionKind } from 'typedoc';
import { ENTRY_POINTS } from './entry-points.mjs';

/** A plugin of TypeDoc that names each module after what users import, not after its source file. */
export function load(app) {
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, (context) => {
    for (const module of context.project.getReflectionsByKind(ReflectionKind.Module)) {
      const file = context.getSymbolFromReflection(module)?.declarations?.[0]?.getSourceFile().fileName;
      const entry = ENTRY_POINTS.find((each) => each.file === file);
      if (entry !== undefined) module.name = entry.name;
    }
  });
}
