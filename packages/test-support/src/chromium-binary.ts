// As jest-global-setup.ts loads this file, too, there is no '.js' here.
import { findOrInstall, type Wanted } from './debian-package';

export const CHROMIUM: Wanted = {
  name: 'chromium',
  programs: ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'],
  how: 'Install it (Debian: `apt-get install chromium`), or put Chrome on the PATH',
};

let asked: Promise<string> | undefined;

/**
 * The path of a Chromium or Chrome. If there is none, it installs Debian's package and announces it on stderr.
 *
 * @throws Error that says what to install.
 */
export function chromiumBinary(): Promise<string> {
  asked ??= findOrInstall(CHROMIUM).catch((error) => {
    asked = undefined;
    throw error;
  });
  return asked;
}
