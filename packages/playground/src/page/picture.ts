import type { Theme } from './theme.js';

/** What a picture of the page shows. */
export interface Picture {
  readonly title: string;
  readonly result: string;
  readonly counters: readonly { readonly name: string; readonly count: number; readonly isBeyond: boolean }[];
  readonly lanes: readonly { readonly name: string; readonly canvas: HTMLCanvasElement }[];
}

/** The size that other sites expect of a preview. */
const [WIDTH, HEIGHT] = [1200, 630];
const MARGIN = 48;
const FONT = 'system-ui, sans-serif';
const MAX_LANES = 3;

/** Draws the counters and the first lanes. */
export function drawPicture({ title, result, counters, lanes }: Picture, theme: Theme): HTMLCanvasElement {
  const canvas = Object.assign(document.createElement('canvas'), { width: WIDTH, height: HEIGHT });
  const ctx = canvas.getContext('2d')!;
  const write = (text: string, x: number, y: number, size: number, color: string, weight = 400) => {
    ctx.font = `${weight} ${size}px ${FONT}`;
    ctx.fillStyle = color;
    ctx.fillText(text, x, y, WIDTH - MARGIN - x);
  };
  ctx.fillStyle = theme.card;
  ctx.fillRect(0, 0, WIDTH, HEIGHT);
  write(title, MARGIN, 66, 38, theme.text, 700);
  write(result, MARGIN, 102, 20, theme.quiet);
  for (const [index, { name, count, isBeyond }] of counters.entries()) {
    const x = MARGIN + (index * (WIDTH - 2 * MARGIN)) / counters.length;
    write(String(count), x, 196, 84, isBeyond ? theme.beyond : theme['good-text'], 700);
    write(name, x, 226, 20, theme.text, 600);
  }
  const height = (HEIGHT - 250 - MARGIN) / Math.min(MAX_LANES, lanes.length);
  for (const [index, { name, canvas: chart }] of lanes.slice(0, MAX_LANES).entries()) {
    const y = 250 + index * height;
    write(name, MARGIN, y + 16, 15, theme.quiet, 600);
    ctx.drawImage(chart, MARGIN, y + 20, WIDTH - 2 * MARGIN, height - 22);
  }
  write('Rollgate, a rate limiter for Node, Bun, Deno and Workers', MARGIN, HEIGHT - 18, 18, theme.quiet);
  return canvas;
}

/** Copies a picture. Where a page may not write pictures to the clipboard, it becomes a download. */
export async function copyPicture(canvas: HTMLCanvasElement): Promise<'Copied' | 'Downloaded'> {
  const blob = await new Promise<Blob>((resolve) => canvas.toBlob((made) => resolve(made!)));
  try {
    await navigator.clipboard.write([new ClipboardItem({ [blob.type]: blob })]);
    return 'Copied';
  } catch {
    const link = Object.assign(document.createElement('a'), {
      href: URL.createObjectURL(blob),
      download: 'rollgate.png',
    });
    link.click();
    URL.revokeObjectURL(link.href);
    return 'Downloaded';
  }
}
