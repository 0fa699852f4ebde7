const SVG = 'http://www.w3.org/2000/svg';

/** Strokes on a 20 by 20 grid. */
const PATHS = {
  list: 'M3 5.5h14M3 10h14M3 14.5h9',
  close: 'M5 5l10 10M15 5L5 15',
  plus: 'M10 4v12M4 10h12',
  tune: 'M3 6h7M14 6h3M3 14h3M10 14h7M12 4v4M8 12v4',
  send: 'M10 16V4.5M5 9l5-5 5 5',
  stop: 'M6 6h8v8H6z',
  copy: 'M7.5 7.5h8v8h-8zM12.5 7.5v-3h-8v8h3',
  done: 'M4.5 10.5l3.5 3.5 7.5-8',
  edit: 'M4 16l.8-3.4L13.4 4l2.6 2.6-8.6 8.6zM11.5 6l2.6 2.6',
  again: 'M15.5 10a5.5 5.5 0 1 1-1.7-4M14.5 2.8v3.5H11',
  further: 'M4 10h11M10.5 5.5L15 10l-4.5 4.5',
  remove: 'M4.5 6h11M8 6V4h4v2M6 6l.6 10h6.8L14 6',
  system: 'M10 3.5a6.5 6.5 0 1 0 0 13zM10 3.5a6.5 6.5 0 0 1 0 13',
  light:
    'M10 6.8a3.2 3.2 0 1 0 0 6.4 3.2 3.2 0 0 0 0-6.4zM10 2v1.8M10 16.2V18M2 10h1.8M16.2 10H18' +
    'M4.4 4.4l1.2 1.2M14.4 14.4l1.2 1.2M15.6 4.4l-1.2 1.2M5.6 14.4l-1.2 1.2',
  dark: 'M16 12.2A6.5 6.5 0 0 1 7.8 4a6.5 6.5 0 1 0 8.2 8.2z',
};

export function icon(name) {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', '0 0 20 20');
  svg.setAttribute('class', `icon icon-${name}`);
  svg.setAttribute('aria-hidden', 'true');
  const path = document.createElementNS(SVG, 'path');
  path.setAttribute('d', PATHS[name]);
  svg.append(path);
  return svg;
}

/** The rune kenaz, the torch, next to responses. */
export function rune() {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', '0 0 12 20');
  svg.setAttribute('class', 'rune');
  svg.setAttribute('aria-hidden', 'true');
  const path = document.createElementNS(SVG, 'path');
  path.setAttribute('d', 'M9.5 2.5 3 10l6.5 7.5');
  svg.append(path);
  return svg;
}
