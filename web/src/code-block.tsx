import { CopyButton } from './copy-button.tsx';

export function CodeBlock({ text, language }: { text: string; language: string }) {
  return (
    <figure class="code">
      <figcaption>
        <span>{language === '' ? 'text' : language}</span>
        <CopyButton text={text} label="Copy code" />
      </figcaption>
      <pre>
        <code>{text}</code>
      </pre>
    </figure>
  );
}
