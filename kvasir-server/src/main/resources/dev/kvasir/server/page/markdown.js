import { copyFrom } from './clipboard.js';
import { iconButton, make } from './dom.js';
import { icon } from './icons.js';
import { blocks } from './markdown-blocks.js';
import { inline } from './markdown-inline.js';

/** Deeper nested quotes and lists are text, to limit the stack. */
const DEEPEST = 10;

/** Headings of responses are below the page's own. */
const HEADINGS_BELOW = 2;

function codeBlock({ language, inside }) {
  const text = inside.join('\n');
  const name = language || 'text';
  const copy = iconButton(icon('copy'), 'Copy code', event => copyFrom(event.currentTarget, text));
  return make(
    'figure',
    { class: 'code' },
    make('figcaption', {}, make('span', {}, name), copy),
    make('pre', { tabindex: 0, role: 'group', 'aria-label': `Code, ${name}` }, make('code', {}, text)),
  );
}

function heading({ level, text }) {
  return make(`h${Math.min(6, level + HEADINGS_BELOW)}`, { class: `level-${level}` }, ...inline(text));
}

function list({ ordered, start, items, loose }, depth) {
  const made = make(ordered ? 'ol' : 'ul', start === 1 ? {} : { start });
  for (const lines of items) {
    const children = rendered(lines, depth + 1);
    // A tight item is a line, not a paragraph.
    if (!loose && children[0]?.tagName === 'P') {
      children.splice(0, 1, ...children[0].childNodes);
    }
    made.append(make('li', {}, ...children));
  }
  return made;
}

function cell(tag, text, align) {
  const made = make(tag, tag === 'th' ? { scope: 'col' } : {}, ...inline(text ?? ''));
  made.style.textAlign = align ?? '';
  return made;
}

function table({ head, align, rows }) {
  const row = (tag, cells) => make('tr', {}, ...head.map((_, i) => cell(tag, cells[i], align[i])));
  return make(
    'div',
    { class: 'table', tabindex: 0, role: 'group', 'aria-label': 'Table' },
    make(
      'table',
      {},
      make('thead', {}, row('th', head)),
      make('tbody', {}, ...rows.map(cells => row('td', cells))),
    ),
  );
}

function render(block, depth) {
  switch (block.kind) {
    case 'code':
      return codeBlock(block);
    case 'heading':
      return heading(block);
    case 'rule':
      return make('hr');
    case 'quote':
      return make('blockquote', {}, ...rendered(block.inside, depth + 1));
    case 'list':
      return list(block, depth);
    case 'table':
      return table(block);
    default:
      return make('p', {}, ...inline(block.text));
  }
}

function rendered(lines, depth) {
  if (depth > DEEPEST) {
    return [make('p', {}, lines.join('\n'))];
  }
  return blocks(lines).map(block => render(block, depth));
}

/** Renders a growing text: unchanged blocks stay, with their selection and focus. */
export class MarkdownView {
  #sources = [];
  #shown = null;

  constructor(place) {
    this.place = place;
  }

  show(text) {
    if (text === this.#shown) {
      return;
    }
    this.#shown = text;
    const found = blocks(text.replace(/\r\n?/g, '\n').split('\n'));
    let same = 0;
    while (same < found.length && found[same].source === this.#sources[same]) {
      same++;
    }
    while (this.place.childNodes.length > same) {
      this.place.lastChild.remove();
    }
    this.place.append(...found.slice(same).map(block => render(block, 0)));
    this.#sources = found.map(block => block.source);
  }
}
