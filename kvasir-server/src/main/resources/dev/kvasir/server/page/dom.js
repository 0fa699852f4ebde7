/**
 * Creates an element with attributes, listeners (names that start with "on") and children. Text is
 * always a text node: the page never parses markup.
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

/** Sets a text only if it differs, since setting it clears the selection. */
export function setText(element, text) {
  if (element.textContent !== text) {
    element.textContent = text;
  }
}

/** Creates an icon button; its name is its label and tooltip. */
export function iconButton(drawing, name, onclick, attributes = {}) {
  return make(
    'button',
    { type: 'button', class: 'quiet square', 'aria-label': name, title: name, onclick, ...attributes },
    drawing,
  );
}
