/** What stands in the log of a copied conversation where the copy begins to go its own way. */
export function copyText(name: string): string {
  return `A copy of ${name}; what follows is its own.`;
}
