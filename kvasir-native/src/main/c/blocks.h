// Repacks ggml blocks of weights into tiles; the layout is that of QuantizedWeights. The Java references are the
// unpackAll of the formats and QuantizedWeights.setTile. Include after coded_rows.h.

#define BLOCK 32            // columns
#define INFINITE_HALF 0x7C00

// Unaligned loads and stores of two and four bytes.
INLINE u32 load_half_bits(const uint8_t *at) {
  uint16_t half;
  __builtin_memcpy(&half, at, sizeof half);
  return half;
}

INLINE u32 load_word(const uint8_t *at) {
  u32 word;
  __builtin_memcpy(&word, at, sizeof word);
  return word;
}

INLINE void store_word(uint8_t *at, u32 word) { __builtin_memcpy(at, &word, sizeof word); }

// Converts a finite half. Its exponent and fraction at the position of a float's give the value divided by 2^112.
INLINE float float_of_half(u32 half) {
  float magnitude = float_of((i32)((half & 0x7FFF) << 13)) * 0x1p112f;
  return half & 0x8000 ? -magnitude : magnitude;
}

// Where a tile is written, and the largest scale so far.
typedef struct {
  uint8_t *codes;
  uint16_t *scales; // halves
  u32 largest;      // magnitude of a scale as the bits of a half; non-finite ones compare greatest
} Laid;

// Writes the words of a row, (columns of a word, 16 rows, 4 bytes). A block of nibbles holds columns 0 to 15 in the
// lower nibbles and 16 to 31 in the upper ones; a word holds four columns in each.
INLINE void lay_words(const uint8_t *from, uint8_t *to, const int bits) {
  if (bits == 8) {
    UNROLL for (int word = 0; word < BLOCK / 4; word++) store_word(to + 4 * TILE * word, load_word(from + 4 * word));
    return;
  }
  const u32 lower = 0x0F0F0F0F;
  UNROLL for (int half = 0; half < 2; half++) {
    u32 first = load_word(from + 8 * half), second = load_word(from + 8 * half + 4);
    store_word(to + 4 * TILE * half, (first & lower) | (second & lower) << 4);
    store_word(to + 4 * TILE * (half + 2), (first >> 4 & lower) | (second & ~lower));
  }
}

// Writes the same columns of up to sixteen rows, stride bytes apart. Scales of missing rows are zero.
INLINE void lay_group(const uint8_t *blocks, i64 stride, i32 rows, Laid *to, const int bits) {
  u32 halves[TILE] = {0};
  for (i32 row = 0; row < rows; row++, blocks += stride) {
    halves[row] = load_half_bits(blocks);
    lay_words(blocks + 2, to->codes + 4 * row, bits);
  }
  UNROLL for (int row = 0; row < TILE; row++) {
    u32 magnitude = halves[row] & 0x7FFF;
    to->largest = magnitude > to->largest ? magnitude : to->largest;
    to->scales[row] = (uint16_t)halves[row];
  }
}

// Repacks rows first to end; first starts a tile. largest is the greatest magnitude of a scale, infinite if one is not
// finite.
INLINE void lay_rows(float *largest, const uint8_t *blocks, uint8_t *codes, uint16_t *scales, i32 columns, i32 first,
                     i32 end, const int bits) {
  const i64 groups = columns / BLOCK, block_bytes = 2 + BLOCK * bits / 8, row_bytes = groups * block_bytes;
  Laid to = {codes + (i64)first * columns * bits / 8, scales + first * groups, 0};
  for (i32 row = first; row < end; row += TILE) {
    i32 rows = end - row < TILE ? end - row : TILE;
    for (i64 group = 0; group < groups; group++) {
      lay_group(blocks + row * row_bytes + group * block_bytes, row_bytes, rows, &to, bits);
      to.codes += TILE * BLOCK * bits / 8;
      to.scales += TILE;
    }
  }
  *largest = to.largest < INFINITE_HALF ? float_of_half(to.largest) : __builtin_inff();
}

// blocks (rows, columns / 32) of a half and 32 bytes. Minimums are multiples of the scales and are not stored.
EXPORT void KERNEL(lay_bytes)(float *largest, const uint8_t *blocks, uint8_t *codes, uint16_t *scales, void *minimums,
                              i32 columns, i32 first, i32 end) {
  (void)minimums;
  lay_rows(largest, blocks, codes, scales, columns, first, end, 8);
}

// blocks (rows, columns / 32) of a half and 16 bytes
EXPORT void KERNEL(lay_nibbles)(float *largest, const uint8_t *blocks, uint8_t *codes, uint16_t *scales, void *minimums,
                                i32 columns, i32 first, i32 end) {
  (void)minimums;
  lay_rows(largest, blocks, codes, scales, columns, first, end, 4);
}
