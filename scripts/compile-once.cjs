const vm = require('node:vm');

/**
 * Jest compiles each module again for each test file. V8 finds a script that it has compiled before, with all functions that
 * ran, but only if the script has no `importModuleDynamically`. No module needs it, because swc translates `import()`. Of
 * the time of the tests of adapters, compiling took a seventh.
 */
vm.compileFunction = (code, parameters, { filename, parsingContext }) => {
  const start = `(function (${parameters.join(', ')}) {`;
  const script = new vm.Script(`${start}${code}\n})`, { filename, columnOffset: -start.length });
  return script.runInContext(parsingContext);
};
