/**
 * The thread that makes readable text of what a server sent: pages may be huge or broken on purpose, and the program must
 * not stand still for them. One document each; whoever starts it ends it when it takes too long.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { assert } from '../../lib/assert.ts';
import { decodeText } from './decode-text.ts';
import { markdownOf } from './markdown-of.ts';

export interface ExtractJob {
  readonly kind: 'html' | 'pdf';
  readonly bytes: Uint8Array;
  /** As the server said, if it did. */
  readonly charset: string | null;
  readonly url: string;
}

export interface Extracted {
  readonly title: string;
  readonly markdown: string;
}

/** Fewer characters than this are no article: then the whole page is taken. */
const articleCharsMin = 250;
const pdfPagesMax = 500;

async function extract(job: ExtractJob): Promise<Extracted> {
  return job.kind === 'pdf' ? readPdf(job) : readHtml(job);
}

async function readHtml({ bytes, charset, url }: ExtractJob): Promise<Extracted> {
  const [{ parseHTML }, { Readability }] = await Promise.all([import('linkedom'), import('@mozilla/readability')]);
  const html = decode(bytes, charset);
  const { document } = parseHTML(html);
  const base = URL.parse(document.querySelector('base')?.getAttribute('href') ?? '', url)?.href ?? url;
  const title = (document.querySelector('title')?.textContent ?? '').replaceAll(/\s+/g, ' ').trim();
  const whole = () => ({ title, markdown: markdownOf(parseHTML(html).document, base) });
  const article = articleOf();
  if (article === null) return whole();
  const markdown = markdownOf(article.content, base);
  return markdown.length < articleCharsMin ? whole() : { title: article.title ?? title, markdown };

  function articleOf() {
    // It throws for what has no elements at all.
    if (document.querySelector('*') === null) return null;
    const found = new Readability(document as never, { serializer: (node) => node }).parse();
    const content = found?.content ?? null;
    return found === null || content === null ? null : { ...found, content };
  }
}

function decode(bytes: Uint8Array, charset: string | null): string {
  // A page may say it itself, in its first kilobyte.
  const start = Buffer.from(bytes.subarray(0, 1024)).toString('latin1');
  return decodeText(bytes, charset ?? /<meta[^>]+charset=["']?([\w-]+)/i.exec(start)?.[1] ?? null);
}

async function readPdf({ bytes }: ExtractJob): Promise<Extracted> {
  const { extractText, getDocumentProxy, getMeta } = await import('unpdf');
  const pdf = await getDocumentProxy(bytes);
  if (pdf.numPages > pdfPagesMax) throw new Error(`it has ${pdf.numPages} pages, more than ${pdfPagesMax}`);
  const { text } = await extractText(pdf, { mergePages: false });
  const { info } = await getMeta(pdf);
  const title = typeof info['Title'] === 'string' ? info['Title'] : '';
  const pages = text.map((page, index) => `[page ${index + 1}]\n${page.trim()}`);
  return { title, markdown: pages.join('\n\n') };
}

assert(parentPort !== null, 'the extract thread was started as a program');
const port = parentPort;
extract(workerData as ExtractJob).then(
  (extracted) => port.postMessage({ ok: true, extracted }),
  (error: unknown) => port.postMessage({ ok: false, problem: error instanceof Error ? error.message : String(error) }),
);
