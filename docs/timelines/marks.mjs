// The marks of the pictures, which are those of the playground: a disc is an allowed request, a triangle one beyond the
// limit, and a cross a rejected one. A picture follows the theme of the page that shows it.

/** The style of a picture, for its `<style>`. The colors are those of `packages/playground/src/page/style.css`. */
export const STYLE = `
.ground{fill:#fff}.text{fill:#1c2226}.quiet{fill:#566068}.line{stroke:#d8dde1;fill:none}.edge{stroke:#566068;fill:none}
.band{fill:#dcebf5}.allowed{fill:#0072b2}.beyond{fill:#d1232f}.beyond-text{fill:#b3121e}.good-text{fill:#0b6b3a}
.rejected{stroke:#7a858d;stroke-width:2;fill:none}.waiting{stroke:#0072b2;stroke-width:2;fill:none}
.bracket{stroke:#d1232f;stroke-width:2;fill:none}
@media (prefers-color-scheme:dark){
.ground{fill:#1b2024}.text{fill:#e8ecef}.quiet{fill:#a3aeb6}.line{stroke:#343c42}.edge{stroke:#a3aeb6}
.band{fill:#1e3a4d}.allowed{fill:#56b4e9}.beyond{fill:#ff6b5e}.beyond-text{fill:#ff8a7f}.good-text{fill:#6fd39b}
.rejected{stroke:#8f9aa2}.waiting{stroke:#56b4e9}.bracket{stroke:#ff6b5e}
}`;

/** A coordinate with at most one decimal. */
export function round(value) {
  return Math.round(value * 10) / 10;
}

/** The mark of a request, with its middle at this point. */
export function markAt({ allowed, isBeyond }, x, y) {
  if (isBeyond) return `<path class="beyond" d="M${x} ${round(y - 6)}l6 11h-12z"/>`;
  if (allowed) return `<circle class="allowed" cx="${x}" cy="${y}" r="5"/>`;
  return `<path class="rejected" d="M${round(x - 4)} ${round(y - 4)}l8 8m0-8l-8 8"/>`;
}

/** A whole picture with a ground of its own. */
export function toPicture(width, height, title, parts) {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="system-ui,sans-serif" font-size="12">
<title>${title}</title>
<style>${STYLE}</style>
<rect class="ground" width="${width}" height="${height}" rx="8"/>
${parts.join('\n')}
</svg>
`;
}
