import { byId, iconButton, make, setText } from './dom.js';
import { icon } from './icons.js';

/** One line of the list: opens, renames and deletes a conversation. */
class ShelfLine {
  #actions;
  #conversation;
  #title = make('span', { class: 'line-title' });
  #open;
  #rename;
  #delete;

  constructor(conversation, actions) {
    this.#conversation = conversation;
    this.#actions = actions;
    this.#open = make(
      'button',
      { type: 'button', class: 'line-open', onclick: () => actions.open(this.#conversation) },
      make('span', { class: 'line-dot' }),
      this.#title,
    );
    this.#rename = iconButton(icon('edit'), 'Rename', () => this.rename());
    this.#delete = iconButton(icon('remove'), 'Delete', () => actions.delete(this.#conversation));
    this.element = make('li', { class: 'line' }, this.#open, this.#rename, this.#delete);
    this.element.addEventListener('keydown', event => this.#key(event));
  }

  update(conversation, open, running) {
    this.#conversation = conversation;
    setText(this.#title, conversation.title);
    this.#open.title = conversation.title;
    this.#open.setAttribute('aria-current', String(open));
    this.element.classList.toggle('running', running);
    this.#open.setAttribute('aria-label', conversation.title + (running ? ', generating' : ''));
    this.#rename.setAttribute('aria-label', `Rename ${conversation.title}`);
    this.#delete.setAttribute('aria-label', `Delete ${conversation.title}`);
  }

  focus() {
    this.#open.focus();
  }

  rename() {
    const field = make('input', { class: 'line-name', 'aria-label': 'Name of the conversation' });
    field.value = this.#conversation.title;
    let ended = false;
    const end = keep => {
      if (ended) {
        return;
      }
      ended = true;
      field.replaceWith(this.#open);
      this.element.classList.remove('renaming');
      if (keep && field.value.trim()) {
        this.#actions.rename(this.#conversation, field.value.trim());
      }
    };
    field.addEventListener('blur', () => end(true));
    field.addEventListener('keydown', event => {
      event.stopPropagation();
      if (event.key === 'Enter' || event.key === 'Escape') {
        end(event.key === 'Enter');
        this.focus();
      }
    });
    this.element.classList.add('renaming');
    this.#open.replaceWith(field);
    field.select();
    field.focus();
  }

  #key(event) {
    if (event.key === 'F2') {
      this.rename();
    } else if (event.key === 'Delete') {
      this.#actions.delete(this.#conversation);
    }
  }
}

/** The list of conversations. In narrow windows it is a drawer. */
export class Shelf {
  #shelf = byId('shelf');
  #list = byId('conversation-list');
  #opener = byId('open-shelf');
  #lines = new Map();

  /** actions: open, rename and delete, each with a conversation, and begin. */
  constructor(actions) {
    this.actions = actions;
    byId('new-conversation').prepend(icon('plus'));
    byId('new-conversation').addEventListener('click', () => actions.begin());
    byId('close-shelf').append(icon('close'));
    byId('close-shelf').addEventListener('click', () => this.close());
    byId('veil').addEventListener('click', () => this.close());
    this.#opener.append(icon('list'));
    this.#opener.addEventListener('click', () => this.#openDrawer());
    this.#list.addEventListener('keydown', event => this.#arrow(event));
    this.#shelf.addEventListener('keydown', event => this.#escape(event));
  }

  show(conversations, openId, isRunning) {
    const before = [...this.#lines.keys()];
    const ids = conversations.map(conversation => conversation.id);
    for (const id of before.filter(id => !ids.includes(id))) {
      this.#lines.get(id).element.remove();
      this.#lines.delete(id);
    }
    conversations.forEach((conversation, i) => {
      const { id } = conversation;
      if (!this.#lines.has(id)) {
        this.#lines.set(id, new ShelfLine(conversation, this.actions));
      }
      const line = this.#lines.get(id);
      line.update(conversation, id === openId, isRunning(conversation));
      if (this.#list.children[i] !== line.element) {
        this.#list.insertBefore(line.element, this.#list.children[i] ?? null);
      }
    });
  }

  /** Focus after a deletion: the next line, or the button for a new conversation. */
  focusNear(index) {
    const near = this.#list.children[Math.min(index, this.#list.children.length - 1)];
    (near?.querySelector('.line-open') ?? byId('new-conversation')).focus();
  }

  close() {
    if (this.#shelf.classList.contains('out')) {
      this.#drawer(false);
      this.#opener.focus();
    }
  }

  #escape(event) {
    if (event.key === 'Escape' && this.#shelf.classList.contains('out')) {
      event.stopPropagation();
      this.close();
    }
  }

  #openDrawer() {
    this.#drawer(true);
    byId('new-conversation').focus();
  }

  /** Content under the open drawer is inert. */
  #drawer(out) {
    document.querySelector('main').inert = out;
    byId('memory').inert = out;
    this.#shelf.classList.toggle('out', out);
    this.#opener.setAttribute('aria-expanded', String(out));
  }

  /** Up, Down, Home and End move between lines. */
  #arrow(event) {
    const lines = [...this.#list.querySelectorAll('.line-open')];
    const here = lines.indexOf(event.target.closest('.line')?.querySelector('.line-open'));
    const to = { ArrowDown: here + 1, ArrowUp: here - 1, Home: 0, End: lines.length - 1 }[event.key];
    if (to !== undefined && here >= 0) {
      event.preventDefault();
      lines[Math.max(0, Math.min(lines.length - 1, to))].focus();
    }
  }
}
