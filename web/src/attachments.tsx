/** Files that came with a message or were sent by a call: pictures in place, all else as links that save. */
import { contentPath, fileSize, type EntryFile } from '../../src/protocol/entry-files.ts';

/** What every browser shows as a picture and nothing else. */
const pictureTypes: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

export function Attachments({ files }: { files: readonly EntryFile[] }) {
  if (files.length === 0) return null;
  return (
    <ul class="attachments">
      {files.map((file, index) => (
        <li key={index}>
          <Attachment file={file} />
        </li>
      ))}
    </ul>
  );
}

function Attachment({ file: { name, content } }: { file: EntryFile }) {
  const href = contentPath(content.sha256, name);
  if (pictureTypes.has(content.mediaType)) {
    return (
      <a href={href} target="_blank" rel="noopener">
        <img class="picture" src={href} alt={name} loading="lazy" decoding="async" />
      </a>
    );
  }
  return (
    <a class="attachment" href={href} download={name}>
      {name} <span class="attachment-size">{fileSize(content.bytes)}</span>
    </a>
  );
}
