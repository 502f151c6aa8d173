/** What differs from the components of VitePress, by file. */
const PATCHES: Readonly<Record<string, readonly [from: string, to: string]>> = {
  // A search takes a few milliseconds, so the box need not wait for more keys.
  'VPLocalSearchBox.vue': ['debounce: 200', 'debounce: 30'],
  // Otherwise the bar moves when the page becomes interactive.
  'VPNavBar.vue': ['>>({})', ">>({ 'has-sidebar': hasSidebar.value, top: true })"],
};

/** A plugin of Vite that applies {@link PATCHES}. */
export function patchTheme() {
  return {
    name: 'theme-patches',
    enforce: 'pre' as const,
    transform(code: string, id: string): string | undefined {
      const [from, to] = PATCHES[id.slice(id.lastIndexOf('/') + 1)] ?? [];
      if (from === undefined || to === undefined) return undefined;
      if (!code.includes(from)) throw new Error(`Expected \`${from}\` in ${id}`);
      return code.replace(from, to);
    },
  };
}
