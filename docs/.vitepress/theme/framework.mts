const KEY = 'rollgate-framework';

/** Whether the tabs are changing by themselves. */
let isApplying = false;

/** Shows the framework that the reader has chosen, in all tabs of the page that have it. */
export function applyFramework(name = localStorage.getItem(KEY)): void {
  if (name === null) return;
  isApplying = true;
  for (const group of document.querySelectorAll('.framework-tabs, .vp-code-group .tabs')) {
    const input = Array.from(group.querySelectorAll('input')).find((each) => nameOf(each) === name);
    // VitePress shows the code of a tab when it is clicked.
    if (input !== undefined && !input.checked) input.click();
  }
  isApplying = false;
}

/** Remembers the choice of a tab for the other tabs, also on other pages. The tab stays where it is on the screen. */
export function rememberFramework({ target }: Event): void {
  if (isApplying || !(target instanceof HTMLInputElement) || target.type !== 'radio') return;
  if (target.closest('.framework-tabs, .vp-code-group') === null) return;
  const name = nameOf(target);
  localStorage.setItem(KEY, name);
  const before = target.getBoundingClientRect().top;
  applyFramework(name);
  scrollBy({ top: target.getBoundingClientRect().top - before, behavior: 'instant' });
}

const nameOf = (input: HTMLInputElement): string => input.labels?.[0]?.textContent?.trim() ?? '';
