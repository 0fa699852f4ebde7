// Dot products of packed codes for many heads, as in prefill: a tile's codes are unpacked once, to a byte each in a
// buffer of the caller, and multiplied with all heads. The sums are those of add_dots. For ARM with dot products;
// include after dots.h.
//
// Both digits of a weight go into one sum: 128 times the sum of the high ones, then the low ones. For codes of up to 7
// bits it fits 32 bits, 1024 * (128 * 127 + 64) * 127 < 2^31. It rounds to the float fma(128, high, low), since each
// of the two is below 2^24 and thus exact as a float.

#define TILE_VECTORS 4   // of a tile's 16 lanes

// Stores a quad of four lanes, or adds another part of their codes to it.
INLINE void lay_quad(uint8_t *to, Words quad, int shift, const int first) {
  if (!first) quad = load_words(to) | quad << shift;
  __builtin_memcpy(to, &quad, sizeof quad);
}

// room: (quads, lanes of a tile, 4 entries)
INLINE void unpack_part(const uint8_t *at, i64 quads, int shift, uint8_t *room, const int width, const int first) {
  const int together = 8 / width;
  const Words mask = all_words(0x01010101u * ((1u << width) - 1));
  i64 count = quads / together, rest = quads % together;
  for (i64 word = 0; word < count; word++) {
    UNROLL for (int v = 0; v < TILE_VECTORS; v++) {
      Words words = load_words(at + word * WORD_ROW + 16 * v);
      UNROLL for (int k = 0; k < together; k++) {
        lay_quad(room + (word * together + k) * WORD_ROW + 16 * v, words >> (k * width) & mask, shift, first);
      }
    }
  }
  at += count * WORD_ROW;
  room += count * together * WORD_ROW;
  for (int v = 0; rest && v < TILE_VECTORS; v++) {
    Words left = {0};
    for (i64 row = (rest * width + 1) / 2 - 1; row >= 0; row--) left = left << 8 | load_bytes(at + row * DOT_TILE + 4 * v);
    for (i64 quad = 0; quad < rest; quad++) {
      Words codes = {0};
      UNROLL for (int j = 0; j < 4; j++) {
        codes |= (left & all_words((1 << width) - 1)) << (8 * j);
        left >>= width;
      }
      lay_quad(room + quad * WORD_ROW + 16 * v, codes, shift, first);
    }
  }
}

// Codes of up to 7 bits, which are never negative as bytes.
INLINE void unpack_tile(const uint8_t *at, i64 quads, i32 bits, uint8_t *room) {
  if (bits & 4) {
    unpack_part(at, quads, 0, room, 4, 1);
    at += DOT_TILE * 2 * quads;
  }
  if (bits & 2) {
    if (bits & 4) {
      unpack_part(at, quads, 4, room, 2, 0);
    } else {
      unpack_part(at, quads, 0, room, 2, 1);
    }
    at += DOT_TILE * quads;
  }
  if (bits & 1) {
    if (bits & 6) {
      unpack_part(at, quads, bits & 6, room, 1, 0);
    } else {
      unpack_part(at, quads, 0, room, 1, 1);
    }
  }
}

// Adds the products of a tile with four rows of digits, or with one.
#define MEET_ROW(row)                                                                              \
  UNROLL for (int v = 0; v < TILE_VECTORS; v++) {                                                  \
    sums[row][v] = vdotq_laneq_s32(sums[row][v], codes[v], four_rows, row);                        \
  }
INLINE void meet_tile(int32x4_t sums[][TILE_VECTORS], const uint8_t *room, i64 quads, const i8 *digits, i64 rows,
                      const int heads) {
  for (i64 quad = 0; quad < quads; quad++, digits += 4 * rows) {
    int8x16_t codes[TILE_VECTORS];
    UNROLL for (int v = 0; v < TILE_VECTORS; v++) codes[v] = vld1q_s8((const i8 *)room + quad * WORD_ROW + 16 * v);
    if (heads == 4) {
      int8x16_t four_rows = vld1q_s8(digits);
      MEET_ROW(0)
      MEET_ROW(1)
      MEET_ROW(2)
      MEET_ROW(3)
    } else {
      int8x16_t one_row = (int8x16_t)quad_of(digits);
      UNROLL for (int v = 0; v < TILE_VECTORS; v++) sums[0][v] = vdotq_s32(sums[0][v], codes[v], one_row);
    }
  }
}

// The lanes of a tile, for four heads or for one.
INLINE void add_tile(const uint8_t *room, i64 quads, const i8 *digits, i32 all_heads, i32 exact, const float *units,
                     const float *constants, float *out, i64 out_stride, const int heads) {
  int32x4_t sums[4][TILE_VECTORS];
  i64 rows = exact ? 2 * all_heads : all_heads;
  UNROLL for (int h = 0; h < heads; h++) {
    UNROLL for (int v = 0; v < TILE_VECTORS; v++) sums[h][v] = vdupq_n_s32(0);
  }
  meet_tile(sums, room, quads, digits, rows, heads);
  if (exact) {
    UNROLL for (int h = 0; h < heads; h++) {
      UNROLL for (int v = 0; v < TILE_VECTORS; v++) sums[h][v] = vshlq_n_s32(sums[h][v], 7);
    }
    meet_tile(sums, room, quads, digits + 4 * all_heads, rows, heads);
  }
  UNROLL for (int h = 0; h < heads; h++) {
    UNROLL for (int v = 0; v < TILE_VECTORS; v++) {
      float *to = out + h * out_stride + 4 * v;
      Floats product = fused(vcvtq_f32_s32(sums[h][v]), all(units[h]), all(constants[h]));
      store(to, add(load(to), product));
    }
  }
}

// As add_dots, for codes of up to 7 bits; room holds 16 bytes per entry.
EXPORT void KERNEL(many_dots)(float *out, i32 out_at, i32 out_stride, const uint8_t *codes, i64 offset, i32 quads,
                              i32 bits, i32 first_tile, i32 end_tile, const i8 *digits, i32 heads, i32 exact,
                              const float *units, const float *constants, uint8_t *room) {
  i64 lane_bytes = (i64)quads * (bits / 2) + (bits % 2 ? (quads + 1) / 2 : 0), tile_bytes = DOT_TILE * lane_bytes;
  for (i32 tile = first_tile; tile < end_tile; tile++) {
    float *to = out + out_at + (tile - first_tile) * DOT_TILE;
    i32 head = 0;
    unpack_tile(codes + offset + tile * tile_bytes, quads, bits, room);
    for (; head + 4 <= heads; head += 4) {
      add_tile(room, quads, digits + 4 * head, heads, exact, units + head, constants + head,
               to + (i64)head * out_stride, out_stride, 4);
    }
    for (; head < heads; head++) {
      add_tile(room, quads, digits + 4 * head, heads, exact, units + head, constants + head,
               to + (i64)head * out_stride, out_stride, 1);
    }
  }
}
