/** Whether a line holds a text in which `*` stands for anything. Takes a time in proportion to the line, whatever is asked. */
export type LinePattern = (line: string) => boolean;

export function linePattern(text: string): LinePattern {
  const pieces = text.split('*').filter((piece) => piece !== '');
  return (line) => {
    let at = 0;
    for (const piece of pieces) {
      const found = line.indexOf(piece, at);
      if (found === -1) return false;
      at = found + piece.length;
    }
    return true;
  };
}
