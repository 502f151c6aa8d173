import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '..');

/** Newer than Node 20.0, unless the code checks for it. */
const NEWER =
  /AbortSignal\.any|Promise\.withResolvers|Array\.fromAsync|(?:Object|Map)\.groupBy|import\.meta\.(?:dirname|filename)|(?<!\?\.)getBuiltinModule(?!\?)/;

test('every manifest requires Node 20, and no library uses an API newer than 20.0', () => {
  const folders = ['.', ...readdirSync(join(ROOT, 'packages')).map((name) => `packages/${name}`)];
  for (const folder of folders.filter((one) => existsSync(join(ROOT, one, 'package.json')))) {
    const manifest = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'));
    if (folder === '.' || !manifest.private) expect([folder, manifest.engines]).toEqual([folder, { node: '>=20' }]);
    if (folder === '.' || manifest.private) continue;
    const sources = readdirSync(join(ROOT, folder, 'src'), { recursive: true, encoding: 'utf8' });
    for (const file of sources.filter((name) => name.endsWith('.ts'))) {
      const code = readFileSync(join(ROOT, folder, 'src', file), 'utf8').replace(/^\s*(\/\/|\/?\*).*$/gm, '');
      expect([`${folder}/src/${file}`, NEWER.exec(code)?.[0]]).toEqual([`${folder}/src/${file}`, undefined]);
    }
  }
});
