/**
 * What code that runs in a page finds there, as far as it is used here: the program itself knows no DOM. Such code is sent as
 * text, so it uses nothing from around it.
 */
export interface PageGlobals {
  readonly document: {
    readonly URL: string;
    readonly baseURI: string;
    readonly documentElement: { readonly scrollHeight: number };
  };
  readonly MutationObserver: new (changed: () => void) => {
    observe(target: unknown, options: Readonly<Record<string, boolean>>): void;
    disconnect(): void;
  };
  readonly innerHeight: number;
  scrollTo(x: number, y: number): void;
  scrollBy(x: number, y: number): void;
}

/** What a world that no script of the page has changed has besides. */
export interface PageWorld {
  readonly document: unknown;
  readonly Document: {
    readonly prototype: {
      readonly querySelectorAll: (this: unknown, selector: string) => ArrayLike<{ readonly href: string }>;
    };
  };
}

export interface PageElement {
  readonly tagName: string;
  readonly parentElement: PageElement | null;
  /** Of a field. */
  readonly form?: PageElement | null;
  closest?(selector: string): PageElement | null;
  getAttribute(name: string): string | null;
}
