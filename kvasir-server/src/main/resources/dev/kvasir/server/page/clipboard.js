import { icon } from './icons.js';

/** The Clipboard API needs a secure origin, which a server on the local network is not. */
async function write(text) {
  if (navigator.clipboard) {
    return navigator.clipboard.writeText(text);
  }
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'unseen';
  document.body.append(area);
  area.select();
  const copied = document.execCommand('copy');
  area.remove();
  if (!copied) {
    throw new Error('The browser refused to copy.');
  }
}

const SHOWN_MS = 1500;

/** Copies a text, and confirms it on the button for a moment. */
export async function copyFrom(button, text) {
  const name = (button.dataset.name ??= button.getAttribute('aria-label'));
  let said = 'Copied';
  try {
    await write(text);
    button.replaceChildren(icon('done'));
  } catch {
    said = 'Could not be copied';
  }
  button.setAttribute('aria-label', said);
  button.title = said;
  setTimeout(() => {
    button.replaceChildren(icon('copy'));
    button.setAttribute('aria-label', name);
    button.title = name;
  }, SHOWN_MS);
}
