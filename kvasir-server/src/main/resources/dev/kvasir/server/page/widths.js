/** Bit widths with their own colour, widest first. */
export const WIDTHS = [16, 8, 4, 3, 2, 1];

/** Returns the nearest width, the narrower in a tie. */
export function widthOf(bits) {
  return WIDTHS.reduce((best, width) => (Math.abs(width - bits) <= Math.abs(best - bits) ? width : best));
}
