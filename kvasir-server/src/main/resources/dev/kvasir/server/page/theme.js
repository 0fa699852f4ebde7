/** The colour scheme: the system's, light or dark. */
const KEPT_AS = 'kvasir.theme';
const ORDER = ['system', 'light', 'dark'];

export function theme() {
  const kept = localStorage.getItem(KEPT_AS);
  return ORDER.includes(kept) ? kept : 'system';
}

export function turnTheme() {
  const next = ORDER[(ORDER.indexOf(theme()) + 1) % ORDER.length];
  localStorage.setItem(KEPT_AS, next);
  show();
  return next;
}

function show() {
  document.documentElement.dataset.theme = theme();
}

show();
