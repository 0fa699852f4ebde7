'use strict';
/** Legends for the marks, lines and colors of a section's charts, laid out with the page. */
const legends = (() => {
  const legendOf = section => section.querySelector('.legend');

  function entry(section, text, drawing) {
    const made = document.createElement('span');
    made.innerHTML = `<svg width="28" height="12" aria-hidden="true">${drawing}</svg>`;
    made.append(text);
    legendOf(section).append(made);
  }

  return {
    line(section, text, colour, dash, mark = '') {
      const dashes = Array.isArray(dash) ? dash.join(' ') : dash === 'dashed' ? '4 3' : '';
      entry(section, text,
        `<path d="M1 6H27" stroke="${colour}" stroke-width="2" stroke-dasharray="${dashes}"/>${mark}`);
    },

    /** A mark on such a line; shapes are paths of ten by ten. */
    mark: (shape, colour) =>
      `<path transform="translate(9.5 1.5) scale(.9)" d="${shape}" fill="${colour}"/>`,

    box(section, text, colour) {
      entry(section, text, `<rect x="8" y="0" width="12" height="12" rx="2" fill="${colour}"/>`);
    },

    ramp(section, from, to, colours) {
      const made = document.createElement('span');
      const ramp = document.createElement('span');
      made.className = 'scale';
      ramp.className = 'ramp';
      ramp.style.background = `linear-gradient(to right, ${colours.join(', ')})`;
      made.append(from, ramp, to);
      legendOf(section).append(made);
    },
  };
})();
