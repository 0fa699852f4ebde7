import { make } from './dom.js';

/** Limits nesting, which would overflow the stack. */
const DEEPEST = 8;
const MARKS = [
  ['**', 'strong'],
  ['__', 'strong'],
  ['~~', 'del'],
  ['*', 'em'],
  ['_', 'em'],
];
const ESCAPED = /\\([!-/:-@[-`{-~])/y;
const CODE = /(`+)([\s\S]*?[^`])\1(?!`)/y;
const BARE = /https?:\/\/[^\s<>()[\]"'`*]+(?:\([^\s<>()]*\)[^\s<>()[\]"'`*]*)*/y;
const POINTED = /<(https?:\/\/[^\s<>]+)>/y;
const TARGET = /\(\s*(?:<([^<>\n]*)>|([^\s()]*(?:\([^\s()]*\)[^\s()]*)*))(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)/y;
const BREAK = /(?: {2,}|\\)\n/y;
const SPECIAL = /[\\`*_~<[!h \n]/g;

const at = (pattern, text, index) => {
  pattern.lastIndex = index;
  return pattern.exec(text);
};

/** Returns the address if a link may have it. */
function safeAddress(text) {
  try {
    const url = new URL(text);
    return url.protocol === 'http:' || url.protocol === 'https:' ? url.href : null;
  } catch {
    return null;
  }
}

function link(address, ...children) {
  return make('a', { href: address, target: '_blank', rel: 'noopener noreferrer' }, ...children);
}

/** Returns the bracket that closes the one before index, or -1. */
function closingBracket(text, index) {
  let open = 1;
  for (let i = index; i < text.length; i++) {
    if (text[i] === '\\') {
      i++;
    } else if (text[i] === '[') {
      open++;
    } else if (text[i] === ']' && --open === 0) {
      return i;
    }
  }
  return -1;
}

class Inline {
  #text;
  #depth;
  #nodes = [];
  #plain = '';
  /** Marks without an end from here on, so that each is searched only once. */
  #unclosed = new Set();

  constructor(text, depth) {
    this.#text = text;
    this.#depth = depth;
  }

  nodes() {
    let index = 0;
    while (index < this.#text.length) {
      index = this.#step(index);
    }
    this.#flush();
    return this.#nodes;
  }

  #flush() {
    if (this.#plain) {
      this.#nodes.push(document.createTextNode(this.#plain));
      this.#plain = '';
    }
  }

  #add(node, end) {
    this.#flush();
    this.#nodes.push(node);
    return end;
  }

  /** Parses the element at this position, and returns its end. */
  #step(index) {
    const found =
      this.#escape(index) ??
      this.#break(index) ??
      this.#code(index) ??
      this.#address(index) ??
      this.#link(index) ??
      this.#marked(index);
    if (found !== null) {
      return found;
    }
    SPECIAL.lastIndex = index + 1;
    const next = SPECIAL.exec(this.#text)?.index ?? this.#text.length;
    this.#plain += this.#text.slice(index, next);
    return next;
  }

  #escape(index) {
    const found = at(ESCAPED, this.#text, index);
    if (!found) {
      return null;
    }
    this.#plain += found[1];
    return ESCAPED.lastIndex;
  }

  #break(index) {
    return at(BREAK, this.#text, index) ? this.#add(make('br'), BREAK.lastIndex) : null;
  }

  #code(index) {
    if (this.#text[index] !== '`') {
      return null;
    }
    const found = at(CODE, this.#text, index);
    if (!found) {
      const run = /^`+/.exec(this.#text.slice(index))[0];
      this.#plain += run;
      return index + run.length;
    }
    const end = CODE.lastIndex;
    return this.#add(make('code', {}, found[2].replace(/^ (.*) $/s, '$1').replace(/\n/g, ' ')), end);
  }

  #address(index) {
    const pointed = at(POINTED, this.#text, index);
    if (pointed) {
      const address = safeAddress(pointed[1]);
      return address && this.#add(link(address, pointed[1]), index + pointed[0].length);
    }
    if (this.#text[index] !== 'h' || /\w/.test(this.#text[index - 1] ?? '')) {
      return null;
    }
    const bare = at(BARE, this.#text, index)?.[0].replace(/[.,;:!?_~]+$/, '');
    const address = bare && safeAddress(bare);
    return address ? this.#add(link(address, bare), index + bare.length) : null;
  }

  /** An image becomes a link: the page loads nothing from other sites. */
  #link(index) {
    const open = this.#text.startsWith('![', index) ? index + 1 : index;
    if (this.#text[open] !== '[' || this.#depth >= DEEPEST || this.#unclosed.has('[')) {
      return null;
    }
    const close = closingBracket(this.#text, open + 1);
    if (close < 0) {
      this.#unclosed.add('[');
      return null;
    }
    const target = at(TARGET, this.#text, close + 1);
    const address = target && safeAddress(target[1] ?? target[2]);
    if (!address) {
      return null;
    }
    const end = TARGET.lastIndex;
    const label = this.#text.slice(open + 1, close);
    return this.#add(link(address, ...(label ? this.#inner(label) : [address])), end);
  }

  #marked(index) {
    for (const [mark, tag] of MARKS) {
      if (this.#text.startsWith(mark, index)) {
        const end = this.#closing(mark, index);
        if (end > 0) {
          const inner = this.#text.slice(index + mark.length, end);
          return this.#add(make(tag, {}, ...this.#inner(inner)), end + mark.length);
        }
      }
    }
    return null;
  }

  /** Returns where the mark at index closes, or -1 if it does not open or never closes. */
  #closing(mark, index) {
    const text = this.#text;
    const first = index + mark.length;
    const inWord = mark[0] === '_' && /\w/.test(text[index - 1] ?? '');
    if (this.#depth >= DEEPEST || this.#unclosed.has(mark) || inWord || !/\S/.test(text[first] ?? '')) {
      return -1;
    }
    for (let end = text.indexOf(mark, first + 1); end > 0; end = text.indexOf(mark, end + 1)) {
      if (this.#closes(mark, end)) {
        return end;
      }
    }
    this.#unclosed.add(mark);
    return -1;
  }

  #closes(mark, end) {
    const text = this.#text;
    const after = text[end + mark.length] ?? '';
    if (/\s/.test(text[end - 1]) || text[end - 1] === '\\' || (mark[0] === '_' && /\w/.test(after))) {
      return false;
    }
    // In "*a **b***" the single mark closes with the last star of the run.
    return mark.length === 2 ? after !== mark[0] : text[end - 1] !== mark && after !== mark
      || (text.startsWith(mark.repeat(3), end - 2) && after !== mark);
  }

  #inner(text) {
    return new Inline(text, this.#depth + 1).nodes();
  }
}

/** Returns the nodes of a line of Markdown: emphasis, code, links and text. */
export const inline = (text, depth = 0) => new Inline(text, depth).nodes();
