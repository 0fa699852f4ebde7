/** Classes of width that pages are coloured by, widest first. */
export const WIDTHS = [16, 8, 4, 3, 2, 1];

/** The nearest class; of two that are as near, the narrower. */
export function widthOf(bits) {
  return WIDTHS.reduce((best, width) => (Math.abs(width - bits) <= Math.abs(best - bits) ? width : best));
}
