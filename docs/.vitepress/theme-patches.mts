/** What differs from the components of VitePress, by the end of their path. */
const PATCHES: Readonly<Record<string, readonly (readonly [from: string, to: string])[]>> = {
  // A search takes a few milliseconds, so the box need not wait for more keys.
  '/VPLocalSearchBox.vue': [
    ['debounce: 200', 'debounce: 30'],
    // A reader chooses by the first sentence of a section, not by its title alone.
    [
      '<div v-if="showDetailedList" class="excerpt-wrapper">',
      '<div v-if="p.hint" class="hint" v-html="p.hint" /><div v-if="showDetailedList" class="excerpt-wrapper">',
    ],
  ],
  // Otherwise the bar moves when the page becomes interactive.
  '/VPNavBar.vue': [['>>({})', ">>({ 'has-sidebar': hasSidebar.value, top: true })"]],
  // The group of the page is open, also in the page from the server, so that nothing moves. A group may be a page itself.
  '/composables/sidebar.js': [
    [
      'item.value.collapsed);',
      'item.value.collapsed && !hasActiveLink.value && !isActive(page.value.relativePath, item.value.link));',
    ],
  ],
  // The title of a group is a button, so the arrow in it is none. A group without a page has no link.
  '/VPSidebarItem.vue': [
    [':role="itemRole"', ':role="itemRole" :aria-expanded="item.link ? undefined : !collapsed"'],
    ['role="button"', `:role="item.link && 'button'"`],
    ['aria-label="toggle section"', `:aria-label="item.link && 'toggle section'"`],
    ['tabindex="0"', ':tabindex="item.link && 0"'],
  ],
};

/** A plugin of Vite that applies {@link PATCHES}. */
export function patchTheme() {
  return {
    name: 'theme-patches',
    enforce: 'pre' as const,
    transform(code: string, id: string): string | undefined {
      const patches = Object.entries(PATCHES).find(([end]) => id.endsWith(end))?.[1];
      return patches?.reduce((text, [from, to]) => {
        if (!text.includes(from)) throw new Error(`Expected \`${from}\` in ${id}`);
        return text.replace(from, to);
      }, code);
    },
  };
}
