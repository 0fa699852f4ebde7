/**
 * Splits Markdown into blocks { kind, lines, ... } without parsing lines. Each block has its source,
 * so that a growing text is only rendered where it changed.
 */
const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([^`]*)$/;
const HEADING = /^ {0,3}(#{1,6})(?:\s+(.*?))?(?:\s+#+)?\s*$/;
const RULE = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;
const QUOTE = /^ {0,3}>/;
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])(\s+|$)/;
const DELIMITER = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;

const blank = line => line.trim() === '';
const indent = line => /^\s*/.exec(line)[0].replace(/\t/g, '    ').length;

const beginsTable = (lines, i) =>
  lines[i].includes('|') && lines[i + 1]?.includes('-') && DELIMITER.test(lines[i + 1]);

/** Ends a paragraph without an empty line after it. */
function interrupts(lines, i) {
  const item = ITEM.exec(lines[i]);
  return (
    FENCE.test(lines[i]) ||
    HEADING.test(lines[i]) ||
    RULE.test(lines[i]) ||
    QUOTE.test(lines[i]) ||
    (item && item[3] !== '' && (/^[-*+]|^1[.)]/.test(item[2]))) ||
    beginsTable(lines, i)
  );
}

function fence(lines, i) {
  const [, mark, language] = FENCE.exec(lines[i]);
  const closing = new RegExp(`^ {0,3}${mark[0]}{${mark.length},}\\s*$`);
  let end = i + 1;
  while (end < lines.length && !closing.test(lines[end])) {
    end++;
  }
  const margin = indent(lines[i]);
  const inside = lines.slice(i + 1, end).map(line => line.slice(Math.min(margin, indent(line))));
  return { kind: 'code', language: language.trim().split(/\s/)[0], inside, end: end + 1 };
}

function quote(lines, i) {
  let end = i;
  while (end < lines.length && !blank(lines[end]) && (QUOTE.test(lines[end]) || !interrupts(lines, end))) {
    end++;
  }
  return { kind: 'quote', inside: lines.slice(i, end).map(line => line.replace(/^ {0,3}> ?/, '')), end };
}

function afterBlank(lines, i) {
  let next = i;
  while (next < lines.length && blank(lines[next])) {
    next++;
  }
  return next;
}

/** Lines of an item: those indented under its text, and lazy continuation lines. */
function item(lines, i) {
  const [whole, before, , after] = ITEM.exec(lines[i]);
  const margin = after.length > 4 || after === '' ? whole.trimEnd().length + 1 : whole.length;
  const inside = [lines[i].slice(whole.length)];
  let end = i + 1;
  for (; end < lines.length; end++) {
    if (blank(lines[end])) {
      const next = afterBlank(lines, end);
      if (next === lines.length || indent(lines[next]) <= before.length) {
        break;
      }
    } else if (indent(lines[end]) <= before.length && (ITEM.test(lines[end]) || interrupts(lines, end))) {
      break;
    } else if (indent(lines[end]) <= before.length && blank(lines[end - 1])) {
      break;
    }
    inside.push(lines[end].slice(Math.min(margin, /^\s*/.exec(lines[end])[0].length)));
  }
  return { inside, end };
}

/** A list is loose if an empty line separates two of its items. */
function list(lines, i) {
  const [, before, mark] = ITEM.exec(lines[i]);
  const ordered = /\d/.test(mark);
  const belongs = line => {
    const found = ITEM.exec(line ?? '');
    return found && /\d/.test(found[2]) === ordered && found[1].length <= before.length + 1;
  };
  const items = [];
  let end = i;
  let loose = false;
  for (let next = i; belongs(lines[next]); ) {
    loose ||= next > end;
    const found = item(lines, next);
    items.push(found.inside);
    end = found.end;
    next = afterBlank(lines, end);
  }
  return { kind: 'list', ordered, start: ordered ? parseInt(mark, 10) : 1, items, loose, end };
}

/** Returns the cells of a row; a bar in code or after a backslash is text. */
function cells(line) {
  const found = line.trim().replace(/^\|/, '').match(/(?:\\.|`[^`]*`|[^|\\`]|[\\`])*\|?/g) ?? [];
  return found
    .filter((cell, i) => cell !== '' && (i < found.length - 1 || cell.trim() !== ''))
    .map(cell => cell.replace(/\|$/, '').trim().replace(/\\\|/g, '|'));
}

function alignment(cell) {
  const left = cell.startsWith(':');
  return cell.endsWith(':') ? (left ? 'center' : 'right') : left ? 'left' : '';
}

function table(lines, i) {
  let end = i + 2;
  while (end < lines.length && !blank(lines[end]) && lines[end].includes('|')) {
    end++;
  }
  return {
    kind: 'table',
    head: cells(lines[i]),
    align: cells(lines[i + 1]).map(alignment),
    rows: lines.slice(i + 2, end).map(cells),
    end,
  };
}

function paragraph(lines, i) {
  let end = i + 1;
  while (end < lines.length && !blank(lines[end]) && !interrupts(lines, end)) {
    end++;
  }
  const text = lines.slice(i, end).map(line => line.trimStart()).join('\n');
  return { kind: 'paragraph', text: text.trimEnd(), end };
}

function blockAt(lines, i) {
  const heading = HEADING.exec(lines[i]);
  if (FENCE.test(lines[i])) {
    return fence(lines, i);
  }
  if (heading) {
    return { kind: 'heading', level: heading[1].length, text: heading[2] ?? '', end: i + 1 };
  }
  if (RULE.test(lines[i])) {
    return { kind: 'rule', end: i + 1 };
  }
  if (QUOTE.test(lines[i])) {
    return quote(lines, i);
  }
  if (ITEM.test(lines[i])) {
    return list(lines, i);
  }
  return beginsTable(lines, i) ? table(lines, i) : paragraph(lines, i);
}

export function blocks(lines) {
  const made = [];
  for (let i = 0; i < lines.length; ) {
    if (blank(lines[i])) {
      i++;
      continue;
    }
    const block = blockAt(lines, i);
    made.push({ ...block, source: lines.slice(i, block.end).join('\n') });
    i = block.end;
  }
  return made;
}
