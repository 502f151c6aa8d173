// Copies the static build of the playground to where VitePress serves it.
import { cpSync, existsSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const source = fileURLToPath(new URL('../../packages/playground/dist/static', import.meta.url));
const target = fileURLToPath(new URL('../public/play', import.meta.url));

if (!existsSync(source)) throw new Error('Expected the built playground. Run `npm run build` in the root first.');
rmSync(target, { recursive: true, force: true });
cpSync(source, target, { recursive: true });
