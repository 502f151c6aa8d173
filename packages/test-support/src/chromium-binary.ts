// Without '.js', because jest-global-setup.ts loads this file too.
import { findOrInstall, type RequiredProgram } from './required-program';

// The headless shell has the same engine, but no windows, so it takes a third of the memory.
export const CHROMIUM: RequiredProgram = {
  name: 'chromium-headless-shell',
  programs: ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'],
  how: 'Install it (Debian: `apt-get install chromium-headless-shell`), or put Chrome on the PATH',
};

let installed: Promise<string> | undefined;

/**
 * The path of a Chromium or Chrome. If there is none, it installs Debian's package and announces it on stderr.
 *
 * @throws Error if it cannot install one. The message contains what to install.
 */
export function chromiumBinary(): Promise<string> {
  installed ??= findOrInstall(CHROMIUM).catch((error) => {
    installed = undefined;
    throw error;
  });
  return installed;
}
