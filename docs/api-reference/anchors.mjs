/** The anchors of the headings of a page, in order. Those that repeat have a number, as on the site. */
export function anchorsOf(text) {
  const seen = new Map();
  return headingsOf(text).map((heading) => {
    const slug = slugify(heading);
    const count = seen.get(slug) ?? 0;
    seen.set(slug, count + 1);
    return count === 0 ? slug : `${slug}-${count}`;
  });
}

/** The headings outside of code. */
function headingsOf(text) {
  const prose = text.replace(/^```[\s\S]*?^```/gm, '');
  return Array.from(prose.matchAll(/^#{1,6} (.+)$/gm), ([, heading]) => heading);
}

/**
 * The anchor of a heading, the same as on GitHub, so that links lead to it in both places.
 *
 * @param {string} heading
 */
export function slugify(heading) {
  return heading
    .toLowerCase()
    .replace(/[^\p{Letter}\p{Number}\s_-]/gu, '')
    .replaceAll(' ', '-');
}
