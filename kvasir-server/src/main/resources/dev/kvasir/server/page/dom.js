/**
 * An element with attributes, listeners (names that begin with "on") and children. Text is always a
 * text node: nothing in this page is ever parsed as markup.
 */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) {
      element.addEventListener(name.slice(2), value);
    } else if (value === true) {
      element.setAttribute(name, '');
    } else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(name, value);
    }
  }
  element.append(...children.filter(child => child !== null && child !== undefined));
  return element;
}

export const byId = id => document.getElementById(id);

/** Writes only what differs: a text that is set anew loses a selection in it. */
export function setText(element, text) {
  if (element.textContent !== text) {
    element.textContent = text;
  }
}

/** A button that is an icon; its name is read aloud and shown on hovering. */
export function iconButton(drawing, name, onclick, attributes = {}) {
  return make(
    'button',
    { type: 'button', class: 'quiet square', 'aria-label': name, title: name, onclick, ...attributes },
    drawing,
  );
}
