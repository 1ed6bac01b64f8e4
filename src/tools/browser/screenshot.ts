/** A picture of what is in sight of a page, small enough for a model; kept in the workspace if a place is named. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Page } from 'playwright-core';
import type { ToolImage } from '../tool.ts';
import { fileProblem, hasCode, placeInWorkspace } from '../workspace-path.ts';
import { BrowserError } from './browser-error.ts';

const imageBytesMax = 5_000_000;
const screenshotMs = 15_000;
const jpegQuality = 70;

export async function takeScreenshot(page: Page, signal: AbortSignal): Promise<ToolImage> {
  const options = { scale: 'css', animations: 'disabled', timeout: screenshotMs, signal } as const;
  const png = await page.screenshot({ ...options, type: 'png' });
  if (png.byteLength <= imageBytesMax) return { mediaType: 'image/png', bytes: png };
  const jpeg = await page.screenshot({ ...options, type: 'jpeg', quality: jpegQuality });
  if (jpeg.byteLength <= imageBytesMax) return { mediaType: 'image/jpeg', bytes: jpeg };
  throw new BrowserError('action-failed', 'The picture of the page is too large.');
}

/** Never over another file. Returns where it is, for people. */
export async function keepScreenshot(workspace: string, path: string, image: ToolImage): Promise<string> {
  const ending = image.mediaType === 'image/png' ? '.png' : '.jpg';
  const place = await placeInWorkspace(workspace, path.toLowerCase().endsWith(ending) ? path : `${path}${ending}`);
  if (place.kind === 'refused') throw new BrowserError('action-failed', place.problem);
  try {
    await mkdir(dirname(place.path), { recursive: true });
    await writeFile(place.path, image.bytes, { flag: 'wx' });
    return place.shown;
  } catch (error) {
    const why = hasCode(error, 'EEXIST') ? 'there is a file of that name already' : fileProblem(error);
    throw new BrowserError('action-failed', `The picture can't be kept as ${place.shown}: ${why}.`);
  }
}
