import { make, setText } from './dom.js';
import { counted, short } from './numbers.js';
import { placeName } from './places.js';

/** Describes the prompt of a response by its timings: cached or prefilled. */
function originsOf({ cache_n: known, cache_place: place, cache_ms: fetching, prompt_n: read, prompt_ms: reading }) {
  const origins = [];
  if (known > 0) {
    origins.push({ from: placeName(place ?? 'memory'), tokens: known, millis: fetching });
  }
  if (read > 0) {
    origins.push({ from: 'Prefilled', tokens: read, millis: reading });
  }
  return origins;
}

/** A hit in memory takes no time worth showing. */
const told = ({ tokens, millis }) =>
  counted(tokens, 'token') + (millis > 0 ? `, ${short(millis)} ms` : '');

/** Where the prefix of a conversation's last prompt came from. */
export class Origins {
  #list = make('dl', { class: 'origins' });

  constructor() {
    this.element = make(
      'div',
      { hidden: true },
      make('p', { class: 'aside' }, 'Source of its last prompt:'),
      this.#list,
    );
  }

  show(timings) {
    const origins = timings ? originsOf(timings) : [];
    this.element.hidden = origins.length === 0;
    while (this.#list.children.length > origins.length) {
      this.#list.lastChild.remove();
    }
    origins.forEach((origin, i) => {
      const line =
        this.#list.children[i] ?? this.#list.appendChild(make('div', {}, make('dt'), make('dd')));
      setText(line.firstChild, origin.from);
      setText(line.lastChild, told(origin));
    });
  }
}
