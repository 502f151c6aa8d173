import type { Theme } from './theme.js';

/** A row of the picture. */
interface PictureRow {
  readonly name: string;
  readonly count: number;
  readonly isBeyond: boolean;
  readonly canvas: HTMLCanvasElement;
}

/** The size that other sites expect of a preview. */
const [WIDTH, HEIGHT] = [1200, 630];
const MARGIN = 48;
const FONT = 'system-ui, sans-serif';
/** The size of the chart of a row. */
export const CHART = { width: 840, height: 150 };

/** @param rows Three at most. */
export function drawPicture(title: string, result: string, rows: readonly PictureRow[], theme: Theme) {
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
  for (const [index, { name, count, isBeyond, canvas: chart }] of rows.entries()) {
    const y = 120 + index * (CHART.height + 6);
    write(name, MARGIN, y + 28, 22, theme.text, 600);
    write(String(count), MARGIN, y + 112, 84, isBeyond ? theme.beyond : theme['good-text'], 700);
    ctx.drawImage(chart, WIDTH - MARGIN - CHART.width, y, CHART.width, CHART.height);
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
