'use strict';
/**
 * Axes of charts with their labels and margins. Labels are measured as drawn, because fonts differ in
 * width and height between machines: the chart library would measure labels in a font other than the
 * page's, and take a letter's width for their height.
 */
const chartAxes = (() => {
  const SIZE = 12;
  /** Pixels from an axis to its labels, from labels to a name, and around it all. */
  const MARGIN = 8;
  const GAP = 5;
  const EDGE = 4;

  /** Styled like chart text: with the page's styles, centered on a line. */
  const probe = (() => {
    const picture = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    const words = document.createElementNS('http://www.w3.org/2000/svg', 'text');
    picture.setAttribute('class', 'probe');
    picture.setAttribute('aria-hidden', 'true');
    words.setAttribute('dominant-baseline', 'central');
    picture.append(words);
    document.body.append(picture);
    return words;
  })();

  function drawn(words, font) {
    probe.style.font = font;
    probe.textContent = words;
    return probe;
  }

  const widths = new Map();

  /** Cached, because axes share labels and each measurement triggers a layout of the page. */
  function widthIn(words, font) {
    const key = `${font} ${words}`;
    if (!widths.has(key)) {
      widths.set(key, drawn(words, font).getComputedTextLength());
    }
    return widths.get(key);
  }

  echarts.setPlatformAPI({ measureText: (words, font) => ({ width: widthIn(words, font) }) });

  /** Line height in pixels that fits the tallest and the lowest letter around its middle. */
  function lineIn(font) {
    const { y, height } = drawn('Hg', font).getBBox();
    return Math.ceil(2 * Math.max(-y, y + height));
  }

  return ({ muted, rule, family }) => {
    const font = `${SIZE}px ${family}`;
    const line = lineIn(font);

    const width = words => Math.ceil(Math.max(0, ...words.map(one => widthIn(one, font))));

    const style = color => ({ color, fontSize: SIZE, fontFamily: family, lineHeight: line });

    function axis({ label, ...more }) {
      return {
        nameTextStyle: style(muted),
        axisLine: { lineStyle: { color: rule } },
        axisTick: { show: false },
        axisLabel: { ...style(muted), margin: MARGIN, hideOverlap: true, ...label },
        splitLine: { lineStyle: { color: rule, width: 1 } },
        minorTick: { show: false },
        ...more,
      };
    }

    /** An axis whose name runs along it, beyond labels of this width or height. */
    const named = (name, labels, more) =>
      axis({ name, nameLocation: 'middle', nameGap: MARGIN + labels + GAP, splitLine: { show: false }, ...more });

    return {
      line, width, style, axis,
      below: (name, more) => named(name, line, more),
      beside: (name, labels, more) => named(name, width(labels), more),
      nameRoom: GAP + line,
      cut: (words, most) => echarts.format.truncateText(words, most - 2 * EDGE, font, '…'),
      /** The library reserves space for labels only; everything else has to be specified. */
      around: ({ left = 0, right = 0, top = 0, bottom = 0 }) => ({
        left: EDGE + left, right: EDGE + right, top: EDGE + top, bottom: EDGE + bottom, containLabel: true,
      }),
      /** Height of a chart with labels below and this much inside its axes. */
      height: (inside, { top = 0, bottom = 0 }) => EDGE + top + inside + MARGIN + line + bottom + EDGE,
    };
  };
})();
