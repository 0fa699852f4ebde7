const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];

export const count = value => whole.format(value ?? 0);

export const counted = (value, noun) => `${count(value)} ${noun}${value === 1 ? '' : 's'}`;

/** Formats a number with three significant digits. */
export function short(value) {
  if (!Number.isFinite(value)) {
    return '–';
  }
  return value >= 100 ? count(value) : String(Number(value.toPrecision(3)));
}

export function bytes(value) {
  let unit = 0;
  let scaled = value ?? 0;
  while (scaled >= 1024 && unit < UNITS.length - 1) {
    scaled /= 1024;
    unit++;
  }
  return `${short(scaled)} ${UNITS[unit]}`;
}

export const percent = share => `${Math.round(100 * share)} %`;
