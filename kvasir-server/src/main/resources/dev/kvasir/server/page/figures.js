import { make, setText } from './dom.js';

/** Creates a list of figures from { name: value }. */
export class Figures {
  element = make('dl', { class: 'figures-grid' });

  show(figures) {
    Object.entries(figures).forEach(([name, value], i) => {
      const place =
        this.element.children[i] ?? this.element.appendChild(make('div', {}, make('dt'), make('dd')));
      setText(place.firstChild, name);
      setText(place.lastChild, value);
    });
  }
}
