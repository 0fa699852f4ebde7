// Dot products with a matrix of codes with scales per row, all groups of columns in one call. The Java reference is
// DotKernels.addScaledDots; RowScaledCodes defines the layout and QuantizedOperand the rounding error. Entries are rows
// of the matrix, and lanes are its columns.
#include "dots.h"
#include "weigh.h"

// The factor of a head's integer sum, and the constant that is added to every lane.
typedef struct {
  float units[MOST_WEIGHT_HEADS], constants[MOST_WEIGHT_HEADS];
} Completed;

INLINE void complete(const float *surveys, const i32 *totals, i32 heads, i32 bits, i32 exact, Completed *to) {
  const float limit = exact ? LARGEST_DIGIT << LOW_BITS : LARGEST_DIGIT;
  const double middle = ((1 << bits) - 1) / 2.0;
  for (i32 head = 0; head < heads; head++) {
    float largest = surveys[3 * head], sum = surveys[3 * head + 1], offset = surveys[3 * head + 2];
    float unit = largest < LEAST_LARGEST ? 0 : largest / limit;
    double rest = sum - (double)unit * totals[head];
    to->units[head] = unit;
    to->constants[head] = (float)(middle * rest + offset);
  }
}

// codes | scales (groups, entries) | zeros (groups, entries); room: scales, zeros, products (heads, entries), digits
EXPORT void KERNEL(scaled_dots)(float *out, i32 out_at, i32 out_stride, const float *x, i32 at, i32 stride, float *room,
                                i32 heads, i32 entries, i32 bits, i32 lanes, i32 group, float unit, i32 exact,
                                const uint8_t *bytes, i64 offset) {
  const i32 padded = (entries + PARTS - 1) / PARTS * PARTS, quads = (entries + 3) / 4;
  const i32 groups = (lanes + group - 1) / group;
  const i64 scales_at = offset + lanes / DOT_TILE * bytes_of_tile(quads, bits), step = 2 * entries;
  float *products = room + 2 * padded, surveys[3 * MOST_WEIGHT_HEADS];
  i8 *digits = (i8 *)(products + heads * padded);
  i32 totals[MOST_WEIGHT_HEADS];
  Completed by;
  for (i32 g = 0; g < groups; g++) {
    i32 first = g * group, end = first + group < lanes ? first + group : lanes;
    weigh(x, at, stride, heads, entries, bytes, scales_at + g * step, scales_at + (groups + g) * step, unit, 1, exact,
          room, products, digits, surveys, totals);
    complete(surveys, totals, heads, bits, exact, &by);
    add_dots(out, out_at + first, out_stride, bytes, offset, quads, bits, first / DOT_TILE, end / DOT_TILE, digits, heads,
             exact, by.units, by.constants);
  }
}
