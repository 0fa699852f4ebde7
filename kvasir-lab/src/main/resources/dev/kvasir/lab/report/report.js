'use strict';
(() => {
  const { evaluation, keyRanges } = JSON.parse(document.getElementById('data').textContent);
  const rows = evaluation.rows;
  const reference = rows[0];
  const charts = [];
  /** Draws immediately, because the library would paint the old size first. */
  const sizes = new ResizeObserver(entries => entries.forEach(({ target }) => {
    const chart = echarts.getInstanceByDom(target);
    chart?.resize();
    chart?.getZr().flush();
  }));

  const TASKS = {
    ppl: { title: 'Perplexity', hint: 'lower is better' },
    kld: { title: 'KL divergence from fp16, in nats', hint: 'lower is better, logarithmic', log: true },
    prose: { title: 'KL divergence on a novel, in nats', hint: 'lower is better, logarithmic', log: true },
    drift: { title: 'KL divergence of generated text, in nats', hint: 'lower is better, logarithmic', log: true },
    needle: { title: 'Secret numbers found', hint: 'higher is better', share: true },
    records: { title: 'Table look-ups right', hint: 'higher is better', share: true },
    chain: { title: 'Programs right to the last line', hint: 'higher is better', share: true },
    jsonl: { title: 'Questions answered right', hint: 'higher is better', share: true },
  };
  const PARTS = [
    ['codes', 'codes'],
    ['scales', 'scales and zero points'],
    ['window', 'full precision'],
    ['sinks', 'first tokens'],
    ['tables', 'tables'],
  ];
  /** Methods differ by shape too, not by colour alone; shapes are paths of ten by ten. */
  const SHAPES = [
    'M5 0A5 5 0 1 1 5 10A5 5 0 1 1 5 0Z',
    'M.5 .5H9.5V9.5H.5Z',
    'M5 0L10 9.5H0Z',
    'M5 -1L11 5L5 11L-1 5Z',
    'M0 .5H10L5 10Z',
    'M3.3 0H6.7V3.3H10V6.7H6.7V10H3.3V6.7H0V3.3H3.3Z',
  ];
  const DASHES = ['solid', [7, 3], [2, 3], [9, 3, 2, 3]];
  /** Pixels of a bar's thickness and from its end to its label. */
  const BAR = 14;
  const BAR_MARGIN = 5;

  // Text of a spec or a file name reaches the page through textContent or this, never as markup.
  const safe = echarts.format.encodeHTML;
  const count = value => value.toLocaleString('en-US');
  const digits = value => String(Number(value.toPrecision(3)));
  const percent = value => `${Number((100 * value).toFixed(1))} %`;

  let theme;
  let axes;

  function readTheme() {
    const style = getComputedStyle(document.documentElement);
    const one = name => style.getPropertyValue(name).trim();
    const list = name => one(name).split(/\s+/);
    theme = {
      ink: one('--ink'), muted: one('--muted'), rule: one('--line'), surface: one('--surface'),
      reference: one('--reference'), series: list('--series'), parts: list('--parts'),
      found: list('--found'), foundInk: list('--found-ink'), range: list('--range'),
      family: getComputedStyle(document.body).fontFamily,
    };
    axes = chartAxes(theme);
  }

  // ---- The page's parts ----

  function element(parent, tag, className, text) {
    const made = document.createElement(tag);
    made.className = className || '';
    made.textContent = text || '';
    parent.append(made);
    return made;
  }

  /** A framed chart below its caption; thousands of cells are drawn on a canvas. */
  function panel(section, title, hint, height, option, cells = 0) {
    const figure = element(section.querySelector('.panels'), 'figure', 'panel');
    const caption = element(figure, 'figcaption', '', title);
    if (hint) {
      element(caption, 'small', '', hint);
    }
    const place = element(figure, 'div', 'chart');
    place.style.height = `${height}px`;
    place.setAttribute('role', 'img');
    place.setAttribute('aria-label', `${title}; its figures are in the table below`);
    const chart = echarts.init(place, null, { renderer: cells > 4000 ? 'canvas' : 'svg' });
    chart.setOption({
      animation: false,
      textStyle: { fontFamily: theme.family, color: theme.muted },
      ...option,
    });
    charts.push(chart);
    sizes.observe(place);
  }

  // ---- Rows and their methods ----

  /** A spec without its widths; rows of one method form one curve. */
  function methodOf(spec) {
    const [head, ...keys] = spec.split(',');
    return [head.split(':')[0], ...keys.filter(key => !/^[kv]=/.test(key))].join(', ');
  }

  const methods = [...new Set(rows.slice(1).map(row => methodOf(row.spec)))];

  function lookOf(row) {
    const method = methods.indexOf(methodOf(row.spec));
    const sisters = rows.slice(1).filter(other => methodOf(other.spec) === methodOf(row.spec));
    return {
      colour: theme.series[method % theme.series.length],
      shape: SHAPES[method % SHAPES.length],
      dash: DASHES[sisters.indexOf(row) % DASHES.length],
    };
  }

  // ---- Quality against size ----

  function drawQuality(section) {
    const tasks = evaluation.settings.tasks.filter(task => rows.some(row => isDrawable(row, task)));
    if (tasks.length === 0) {
      return false;
    }
    legends.line(section, reference.spec, theme.reference, 'dashed',
      legends.mark(SHAPES[0], theme.reference));
    methods.forEach(method => {
      const { colour, shape } = lookOf(rows.slice(1).find(row => methodOf(row.spec) === method));
      legends.line(section, method, colour, 'solid', legends.mark(shape, colour));
    });
    tasks.forEach(task => qualityPanel(section, task));
    return true;
  }

  function qualityPanel(section, task) {
    const about = TASKS[task];
    const scale = about.share ? 100 : 1;
    const points = rows.filter(row => isDrawable(row, task)).map(row => point(row, task, scale));
    const { from, to } = bitRange();
    const lastPower = String(2 ** Math.floor(Math.log2(to)));
    panel(section, about.title, about.hint, 280, {
      grid: axes.around(plotRoom(lastPower)),
      tooltip: { ...tooltip(), formatter: hit => hit.data.tip },
      xAxis: axes.below('bits per value, all-in', { type: 'log', logBase: 2, min: from, max: to,
        label: { showMaxLabel: false } }),
      yAxis: qualityAxis(about, points),
      series: [
        ...referenceLine(points, from, to),
        ...methods.map(method => curve(points.filter(one => one.method === method))),
        ...points.filter(one => one.row === reference).map(one => curve([one])),
        errorBars(points),
      ],
    });
  }

  /** Half of the last label extends beyond the axis, half of the topmost one above its axis. */
  const plotRoom = lastLabel =>
    ({ top: axes.line / 2, right: axes.width([lastLabel]) / 2, bottom: axes.nameRoom });

  /**
   * From a power of two to just beyond the largest row, equal for adjacent charts. An
   * incomplete block makes fp16 a little larger than 16 bits.
   */
  function bitRange() {
    const sizes = rows.map(row => row.footprint.bitsPerValue).filter(bits => bits > 0);
    const from = 2 ** Math.floor(Math.log2(Math.min(...sizes)));
    const to = 1.08 * Math.max(...sizes);
    return to > 2 * from ? { from, to } : { from: from / 2, to };
  }

  const tooltip = () => ({
    confine: true,
    backgroundColor: theme.surface,
    borderColor: theme.rule,
    textStyle: { color: theme.ink, fontSize: 13 },
  });

  /** A logarithmic axis cannot show fp16's zero distance from itself. */
  function isDrawable(row, task) {
    const score = row.scores[task];
    return score && row.footprint.bitsPerValue && score.estimate.value !== null
      && (!TASKS[task].log || score.estimate.value > 0);
  }

  function point(row, task, scale) {
    const { value, low, high } = row.scores[task].estimate;
    const comparison = row.comparisons[task];
    const isReference = row === reference;
    const look = isReference ? { colour: theme.reference, shape: SHAPES[0] } : lookOf(row);
    const unit = scale === 100 ? ' %' : '';
    const interval = low === null ? '' : `, 95 %: ${digits(low * scale)} to ${digits(high * scale)}`;
    return {
      row, look, method: isReference ? null : methodOf(row.spec),
      bits: row.footprint.bitsPerValue,
      value: value * scale,
      low: low === null ? null : low * scale,
      high: high === null ? null : high * scale,
      apart: isReference || !comparison || comparison.fromReference.verdict !== 'WITHIN_ERROR',
      tip: `<b>${safe(row.spec)}</b><br>${digits(value * scale)}${unit}${interval}<br>`
        + `${row.footprint.bitsPerValue.toFixed(2)} bits per value`,
    };
  }

  function qualityAxis(about, points) {
    if (about.share) {
      return axes.axis({ type: 'value', min: 0, max: 100, interval: 25, label: { formatter: '{value} %' } });
    }
    if (about.log) {
      const values = points.flatMap(one => [one.low, one.value, one.high]).filter(value => value > 0);
      return axes.axis({ type: 'log', ...decades(values) });
    }
    return axes.axis({ type: 'value', scale: true });
  }

  /** Whole powers of ten around values, so that an axis ends on a label. */
  function decades(values) {
    return {
      min: 10 ** Math.floor(Math.log10(Math.min(...values))),
      max: 10 ** Math.ceil(Math.log10(Math.max(...values))),
      label: { formatter: value => String(Number(value.toPrecision(1))) },
    };
  }

  function referenceLine(points, from, to) {
    return points.filter(one => one.row === reference).map(one => ({
      type: 'line', silent: true, symbol: 'none', data: [[from, one.value], [to, one.value]],
      lineStyle: { color: theme.reference, type: 'dashed', width: 1.5 },
    }));
  }

  function curve(points) {
    const sorted = [...points].sort((a, b) => a.bits - b.bits);
    return {
      type: 'line',
      z: 3,
      lineStyle: { color: sorted[0]?.look.colour, width: 2 },
      symbolSize: 9,
      data: sorted.map(one => ({
        value: [one.bits, one.value],
        tip: one.tip,
        symbol: `path://${one.look.shape}`,
        itemStyle: {
          color: one.apart ? one.look.colour : theme.surface,
          borderColor: one.look.colour,
          borderWidth: 2,
        },
      })),
    };
  }

  function errorBars(points) {
    const barred = points.filter(one => one.low !== null && one.low < one.high);
    return {
      type: 'custom',
      silent: true,
      z: 2,
      encode: { x: 0, y: [1, 2] },
      data: barred.map(one => [one.bits, one.low, one.high]),
      renderItem: (params, api) => {
        const [x, low] = api.coord([api.value(0), api.value(1)]);
        const high = api.coord([api.value(0), api.value(2)])[1];
        const style = { stroke: barred[params.dataIndex].look.colour, lineWidth: 1.25, opacity: 0.75 };
        const bar = (x1, y1, x2, y2) => ({ type: 'line', shape: { x1, y1, x2, y2 }, style });
        return {
          type: 'group',
          children: [bar(x, low, x, high), bar(x - 4, low, x + 4, low), bar(x - 4, high, x + 4, high)],
        };
      },
    };
  }

  // ---- Divergence along the text ----

  function drawAlong(section) {
    const drawn = rows.filter(row => row.scores.kld && row.scores.kld.samples.some(value => value > 0));
    if (drawn.length === 0) {
      return false;
    }
    const block = 128;
    const tokens = block * drawn[0].scores.kld.samples.length;
    drawn.forEach(row => legends.line(section, row.spec, lookOf(row).colour, lookOf(row).dash));
    panel(section, 'KL divergence from fp16, in nats', 'mean of each 128 tokens, logarithmic', 320, {
      grid: axes.around(plotRoom(count(tokens))),
      tooltip: { ...tooltip(), trigger: 'axis', order: 'valueDesc', formatter: alongTip },
      xAxis: axes.below('tokens read', { type: 'value', max: tokens, label: { formatter: count } }),
      yAxis: axes.axis({ type: 'log',
        ...decades(drawn.flatMap(row => row.scores.kld.samples).filter(value => value > 0)) }),
      series: drawn.map(row => ({
        type: 'line', name: row.spec, symbol: 'circle', symbolSize: 5, showSymbol: row.scores.kld.samples.length < 8,
        lineStyle: { color: lookOf(row).colour, width: 2, type: lookOf(row).dash },
        itemStyle: { color: lookOf(row).colour },
        data: row.scores.kld.samples.map((value, i) => [block * (i + 1), value > 0 ? value : null]),
      })),
    });
    return true;
  }

  function alongTip(hits) {
    const lines = hits.filter(hit => hit.value[1] !== null)
      .map(hit => `${hit.marker}${safe(hit.seriesName)}: ${digits(hit.value[1])}`);
    return [`up to token ${count(hits[0].value[0])}`, ...lines].join('<br>');
  }

  // ---- Answers by length and depth ----

  function drawGrids(section, task) {
    const drawn = rows.filter(row => row.scores[task]);
    if (drawn.length === 0) {
      return false;
    }
    section.querySelector('.panels').classList.add('grids');
    legends.ramp(section, 'none right', 'all right', theme.found);
    drawn.forEach(row => gridPanel(section, row, row.scores[task]));
    return true;
  }

  /** A label may be wider than the narrowest column; the last one then extends beyond its end. */
  const cellRoom = (labels, narrowest) =>
    ({ right: Math.max(0, axes.width(labels.slice(-1)) - narrowest) / 2, bottom: axes.nameRoom });

  function gridPanel(section, row, score) {
    const contexts = [...new Set(score.grid.map(cell => cell.context))].sort((a, b) => a - b);
    const depths = [...new Set(score.grid.map(cell => cell.depth))].sort((a, b) => a - b);
    const fifth = depth => `${20 * depth}–${20 * depth + 20} %`;
    const hint = score.estimate.value === null ? '' : `${percent(score.estimate.value)} right`;
    const answers = (right, tries) => `${right}/${tries}`;
    const widest = axes.width(score.grid.map(cell => answers(cell.share.right, cell.share.tries)));
    const room = cellRoom(contexts.map(count), widest);
    panel(section, row.spec, hint, axes.height((axes.line + 10) * depths.length, room), {
      grid: axes.around(room),
      tooltip: { ...tooltip(), formatter: hit =>
        `${hit.value[3]} of ${hit.value[4]} right<br>${count(contexts[hit.value[0]])} tokens, depth ${fifth(depths[hit.value[1]])}` },
      xAxis: axes.below('tokens', { type: 'category', data: contexts.map(count) }),
      yAxis: axes.axis({ type: 'category', data: depths.map(fifth), inverse: true }),
      visualMap: { show: false, min: 0, max: 1, dimension: 2, inRange: { color: theme.found } },
      series: [{
        type: 'heatmap',
        itemStyle: { borderColor: theme.surface, borderWidth: 2 },
        emphasis: { itemStyle: { borderColor: theme.ink, borderWidth: 1 } },
        data: score.grid.filter(cell => cell.share.tries > 0).map(cell => {
          const share = cell.share.right / cell.share.tries;
          return {
            value: [contexts.indexOf(cell.context), depths.indexOf(cell.depth), share,
              cell.share.right, cell.share.tries],
            label: axes.style(theme.foundInk[Math.round(share * (theme.foundInk.length - 1))]),
          };
        }),
        label: { show: true, formatter: hit => answers(hit.value[3], hit.value[4]) },
      }],
    });
  }

  // ---- Bytes ----

  function drawBytes(section) {
    const drawn = rows.filter(row => row.footprint.kvBytes > 0);
    if (drawn.length === 0) {
      return false;
    }
    const parts = PARTS.map(([key, name], i) => ({ key, name, colour: theme.parts[i] }))
      .filter(part => drawn.some(row => row.footprint.parts[part.key] > 0));
    parts.forEach(part => legends.box(section, part.name, part.colour));
    const most = Math.max(...drawn.map(row => row.footprint.kvBytes));
    const [unit, size] = most >= 2 ** 30 ? ['GiB', 2 ** 30] : most >= 2 ** 20 ? ['MiB', 2 ** 20] : ['KiB', 2 ** 10];
    const total = row => digits(row.footprint.kvBytes / size);
    const room = {
      top: axes.line / 2, left: axes.width(['0']) / 2, right: BAR_MARGIN + axes.width(drawn.map(total)),
    };
    panel(section, `KV cache, in ${unit}`, '', axes.height((axes.line + BAR + 16) * drawn.length, room), {
      grid: axes.around(room),
      tooltip: { ...tooltip(), formatter: hit =>
        `<b>${safe(hit.name)}</b>, ${count(drawn[hit.dataIndex].footprint.tokens)} tokens<br>`
          + `${hit.marker}${safe(hit.seriesName)}: ${digits(hit.value)} ${unit}` },
      xAxis: axes.axis({ type: 'value', splitLine: { show: false } }),
      yAxis: axes.axis({
        type: 'category', inverse: true, data: drawn.map(row => row.spec), splitLine: { show: false },
        // Names are above their bars: next to them, long ones would fill a phone's width.
        z: 10,
        label: { inside: true, margin: 0, interval: 0, color: theme.ink, align: 'left',
          verticalAlign: 'bottom', padding: [0, 0, BAR / 2 + 3, 0],
          formatter: spec => axes.cut(spec, section.querySelector('.chart').clientWidth - room.left) },
      }),
      series: parts.map((part, i) => ({
        type: 'bar', stack: 'bytes', name: part.name, barWidth: BAR, itemStyle: { color: part.colour },
        data: drawn.map(row => row.footprint.parts[part.key] / size),
        label: i < parts.length - 1 ? { show: false } : {
          ...axes.style(theme.ink), show: true, position: 'right', distance: BAR_MARGIN,
          formatter: hit => total(drawn[hit.dataIndex]),
        },
      })),
    });
    return true;
  }

  // ---- Key channels ----

  function drawKeys(section) {
    if (!keyRanges) {
      return false;
    }
    section.querySelector('.tokens').textContent = count(keyRanges.tokens);
    const layers = keyRanges.ranges;
    const names = layers.map((heads, layer) => String(layer));
    const channels = layers[0][0].map((range, channel) => String(channel));
    const room = { ...cellRoom(channels, 0), left: axes.nameRoom };
    const row = Math.min(axes.line + 2, 420 / layers.length);
    const all = layers.flat(2).filter(range => range > 0);
    const [least, most] = all.reduce(([a, b], x) => [Math.min(a, x), Math.max(b, x)], [Infinity, 0]);
    legends.ramp(section, digits(least), `${digits(most)}, logarithmic`, theme.range);
    for (let head = 0; head < layers[0].length; head++) {
      const cells = layers.flatMap((heads, layer) => heads[head].map((range, channel) =>
        [channel, layer, Math.log2(Math.max(range, least)), range]));
      panel(section, `KV head ${head}`, '', axes.height(row * layers.length, room), {
        grid: axes.around(room),
        tooltip: { ...tooltip(), formatter: hit =>
          `layer ${hit.value[1]}, channel ${hit.value[0]}<br>range ${digits(hit.value[3])}` },
        xAxis: axes.below('channel', { type: 'category', data: channels }),
        yAxis: axes.beside('layer', names, { type: 'category', inverse: true, data: names,
          label: { interval: Math.ceil(axes.line / row) - 1 } }),
        visualMap: { show: false, min: Math.log2(least), max: Math.log2(most), dimension: 2,
          inRange: { color: theme.range } },
        series: [{ type: 'heatmap', data: cells, emphasis: { itemStyle: { borderColor: theme.ink, borderWidth: 1 } } }],
      }, cells.length);
    }
    return true;
  }

  // ---- All of it, again whenever the colours change ----

  function draw() {
    readTheme();
    charts.splice(0).forEach(chart => chart.dispose());
    const drawings = {
      quality: drawQuality, along: drawAlong,
      needle: section => drawGrids(section, 'needle'), records: section => drawGrids(section, 'records'),
      bytes: drawBytes, keys: drawKeys,
    };
    for (const [id, drawing] of Object.entries(drawings)) {
      const section = document.getElementById(id);
      section.querySelector('.legend').replaceChildren();
      section.querySelector('.panels').replaceChildren();
      section.hidden = !drawing(section);
    }
  }

  draw();
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
})();
