/** The few line drawings of the page. Decoration only: what a button does is said by its label. */
const paths = {
  menu: 'M4 7h16M4 12h16M4 17h16',
  close: 'M6 6l12 12M18 6L6 18',
  plus: 'M12 5v14M5 12h14',
  send: 'M12 19V5M6 11l6-6 6 6',
  down: 'M12 5v14M6 13l6 6 6-6',
  trash: 'M4 7h16M10 11v6M14 11v6M6 7l1 13h10l1-13M9 7V4h6v3',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  check: 'M5 12.5l4.5 4.5L19 7',
  cross: 'M6.5 6.5l11 11M17.5 6.5l-11 11',
  question: 'M9 9a3 3 0 1 1 4 2.8c-.7.3-1 .8-1 1.7M12 17.5v.01',
  skip: 'M6 12h12',
  waiting: 'M6 12v.01M12 12v.01M18 12v.01',
  chevron: 'M9 6l6 6-6 6',
  alert: 'M12 8v5M12 16.5v.01M12 3.5l9.5 16.5h-19z',
} as const;

export type IconName = keyof typeof paths | 'stop';

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      {name === 'stop' ? <rect class="filled" x="6" y="6" width="12" height="12" rx="2" /> : <path d={paths[name]} />}
    </svg>
  );
}
