/** A component that is drawn again only when one of its properties is another value. */
import { Component, h, type ComponentChild, type ComponentType } from 'preact';

export function memo<Props extends object>(draw: (props: Props) => ComponentChild): ComponentType<Props> {
  return class extends Component<Props> {
    override shouldComponentUpdate(next: Readonly<Props>): boolean {
      const names = new Set([...Object.keys(next), ...Object.keys(this.props)]) as Set<keyof Props>;
      for (const name of names) if (next[name] !== (this.props as Props)[name]) return true;
      return false;
    }

    override render(): ComponentChild {
      return h(draw as ComponentType<Props>, this.props);
    }
  };
}
