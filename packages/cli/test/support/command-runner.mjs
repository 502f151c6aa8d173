// Runs the built command again and again in one process, because starting Node takes longer than most of these runs.
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';

const [, , main] = process.argv;
const url = pathToFileURL(main).href;
process.setMaxListeners(0); // Each run adds its own to the process and to its output.
process.stdout.setMaxListeners(0);
process.stderr.setMaxListeners(0);

let output = { stdout: '', stderr: '' };
for (const name of ['stdout', 'stderr']) {
  process[name].write = (text) => {
    output[name] += text;
    return true;
  };
}

let runs = 0;
process.on('message', async ({ args, cwd, input }) => {
  output = { stdout: '', stderr: '' };
  process.argv = [process.execPath, main, ...args];
  process.exitCode = undefined;
  process.chdir(cwd);
  Object.defineProperty(process, 'stdin', { configurable: true, value: Readable.from(input, { objectMode: true }) });
  runs += 1;
  try {
    await import(`${url}?run=${runs}`); // Only the main file is loaded again.
  } catch (error) {
    process.exitCode = 1;
    output.stderr += error.stack;
  }
  const { exitCode: code = 0 } = process;
  process.exitCode = 0;
  process.send({ code, ...output });
});
