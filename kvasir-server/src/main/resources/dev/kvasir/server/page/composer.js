import { byId, setText } from './dom.js';
import { icon } from './icons.js';

/** The message field. An unsent draft stays with its conversation. */
export class Composer {
  #form = byId('composer');
  #area = byId('message');
  #send = byId('send');
  #stop = byId('stop');
  #drafts = new Map();
  #openId = null;
  #running = false;

  /** onSend(text) and onStop(). */
  constructor({ onSend, onStop }) {
    this.#send.append(icon('send'));
    this.#stop.append(icon('stop'));
    this.#stop.addEventListener('click', onStop);
    this.#area.addEventListener('input', () => this.#changed());
    this.#area.addEventListener('keydown', event => this.#key(event));
    this.#form.addEventListener('submit', event => {
      event.preventDefault();
      const text = this.#area.value.trim();
      if (text && !this.#running) {
        this.write('');
        onSend(text);
      }
    });
    document.addEventListener('keydown', event => {
      if (event.key === 'Escape' && this.#running && !document.querySelector('dialog[open]')) {
        onStop();
      }
    });
  }

  open(id) {
    if (id === this.#openId) {
      return;
    }
    this.#drafts.set(this.#openId, this.#area.value);
    this.#openId = id;
    this.write(this.#drafts.get(id) ?? '');
  }

  write(text) {
    this.#area.value = text;
    this.#changed();
  }

  /** Keeps the focus when the pressed button disappears. */
  running(running) {
    const focused = [this.#send, this.#stop].includes(document.activeElement);
    this.#running = running;
    this.#send.hidden = running;
    this.#stop.hidden = !running;
    if (focused) {
      this.#area.focus();
    }
  }

  /** Except where an on-screen keyboard would cover half of the screen. */
  focus() {
    if (matchMedia('(hover: hover)').matches) {
      this.#area.focus();
    }
  }

  mode({ chat }) {
    byId('continuing').hidden = chat;
    setText(byId('message-label'), chat ? 'Message' : 'Text to continue');
    this.#area.placeholder = chat ? 'Ask Kvasir' : 'Your text';
    this.#send.setAttribute('aria-label', chat ? 'Send' : 'Continue this text');
    this.#send.title = this.#send.getAttribute('aria-label');
  }

  #key(event) {
    if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      this.#form.requestSubmit();
    }
  }

  /** Fits the height to the text, up to the limit in the style sheet. */
  #changed() {
    this.#send.disabled = this.#area.value.trim() === '';
    this.#area.style.height = 'auto';
    this.#area.style.height = `${this.#area.scrollHeight}px`;
  }
}
