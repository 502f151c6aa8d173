import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** The package that installs the platforms. */
const requireThere = createRequire(join(__dirname, '../../host-tests/package.json'));

/** Returns the path of a file in a package that only another package depends on. */
function resolveFrom(owner: string, path: string): string {
  return requireThere.resolve(path, { paths: [dirname(requireThere.resolve(`${owner}/package.json`))] });
}

const ARCHITECTURE = process.arch === 'arm64' ? 'arm64' : 'x64';

/** The paths of the programs that the packages of the platforms contain. */
export const PLATFORM_PROGRAMS = {
  bun: () => resolveFrom('bun', `@oven/bun-${process.platform}-${ARCHITECTURE.replace('arm', 'aarch')}/bin/bun`),
  deno: () =>
    resolveFrom(
      'deno',
      `@deno/${process.platform}-${ARCHITECTURE}${process.platform === 'linux' ? '-glibc' : ''}/deno`,
    ),
  workerd: () =>
    resolveFrom('workerd', `@cloudflare/workerd-${process.platform}-${ARCHITECTURE.replace('x', '')}/bin/workerd`),
};

/** The command line of Deno that runs a file with the packages in node_modules. */
export const DENO_ARGUMENTS = ['run', '--no-lock', '--no-remote', '--node-modules-dir=manual', '--no-check', '-A'];
