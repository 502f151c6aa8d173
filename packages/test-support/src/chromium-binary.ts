// As jest-global-setup.ts loads this file, too, there is no '.js' here.
import { findOrInstall } from './debian-package';

let asked: Promise<string> | undefined;

/**
 * The path of a Chromium or Chrome. Where there is none and it may, it installs Debian's package, and says so.
 *
 * @throws Error that says what to install.
 */
export function chromiumBinary(): Promise<string> {
  asked ??= findOrInstall({
    name: 'chromium',
    programs: ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'],
    how: 'Install it (Debian: `apt-get install chromium`), or put Chrome on the PATH',
  }).catch((error) => {
    asked = undefined;
    throw error;
  });
  return asked;
}
