import { ref } from 'vue';

/** By package manager, the commands that install packages, and packages for development only. */
export const COMMANDS = {
  npm: ['npm install', 'npm install --save-dev'],
  pnpm: ['pnpm add', 'pnpm add --save-dev'],
  yarn: ['yarn add', 'yarn add --dev'],
  bun: ['bun add', 'bun add --dev'],
} as const;

export type PackageManager = keyof typeof COMMANDS;
export const PACKAGE_MANAGERS = Object.keys(COMMANDS) as PackageManager[];

const KEY = 'rollgate-package-manager';

/** The reader's package manager, on all pages. Pages from the server show npm. */
export const packageManager = ref<PackageManager>('npm');

/** Restores the reader's choice. Call it after the page has become interactive. */
export function restorePackageManager(): void {
  const name = localStorage.getItem(KEY) as PackageManager;
  if (PACKAGE_MANAGERS.includes(name)) packageManager.value = name;
}

export function choosePackageManager(name: PackageManager): void {
  packageManager.value = name;
  localStorage.setItem(KEY, name);
}
