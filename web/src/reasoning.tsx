export function Reasoning({ text, isWriting = false }: { text: string; isWriting?: boolean }) {
  return (
    <details class="fold reasoning">
      <summary>
        <span class={isWriting ? 'fold-name shimmer' : 'fold-name'}>{isWriting ? 'Thinking…' : 'Thoughts'}</span>
      </summary>
      <p class="verbatim">{text}</p>
    </details>
  );
}
