import { make } from './dom.js';
import { counted, short } from './numbers.js';
import { WIDTHS, widthOf } from './widths.js';

const PAGE_TOKENS = 128;
/** More ticks than this would merge to a grey area. */
const MOST_TICKS = 64;
const FULL_BITS = 16;

const NAMES = {
  sinks: 'attention sinks',
  pages: 'quantized pages',
  window: 'residual window',
};

const described = ({ tokens, bits, what }) =>
  `${counted(tokens, 'token')} at ${short(bits)} bits${what ? `, ${NAMES[what] ?? what}` : ''}`;

function segment(part, tall) {
  const width = widthOf(part.width ?? part.bits);
  const label = make('span', {}, String(width));
  const made = make('span', { class: `segment width-${width}`, title: described(part) }, label);
  made.style.flexGrow = String(part.tokens);
  if (tall) {
    made.style.height = `${Math.min(100, (100 * part.bits) / FULL_BITS)}%`;
  }
  const pages = Math.round(part.tokens / PAGE_TOKENS);
  if (part.what === 'pages' && pages > 1 && pages <= MOST_TICKS) {
    made.classList.add('ticked');
    made.style.setProperty('--pages', String(pages));
  }
  return made;
}

/** A bar of all tokens; the length of a segment is its tokens, its colour the bit width. */
export class Strip {
  #shown = '';

  /** In a tall bar the height is the bits, so the area is the bytes and the frame those of fp16. */
  constructor(tall = false) {
    this.tall = tall;
    this.element = make('div', { class: tall ? 'strip tall' : 'strip', role: 'img' });
  }

  show(parts) {
    const filled = (parts ?? []).filter(part => part.tokens > 0);
    const now = JSON.stringify(filled);
    if (now === this.#shown) {
      return;
    }
    this.#shown = now;
    this.element.replaceChildren(...filled.map(part => segment(part, this.tall)));
    this.element.setAttribute('aria-label', filled.map(described).join('; ') || 'empty');
  }
}

export function legend() {
  const entry = width => {
    const unit = make('span', { class: 'unseen' }, width === 1 ? ' bit' : ' bits');
    return make('li', { class: `swatch width-${width}` }, String(width), unit);
  };
  return make('ul', { class: 'legend', 'aria-label': 'Colours of widths' }, ...WIDTHS.map(entry));
}
