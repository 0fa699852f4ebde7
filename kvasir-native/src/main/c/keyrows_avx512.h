// Products of four queries with rows of 64 channels, for rowcodes.h: a row is decoded, rotated and multiplied in
// registers.
#define KEY_WIDTH 64
#define KEY_HALF (KEY_WIDTH / 2)
#define KEY_PARTS (KEY_WIDTH / LANES)
#define HALF_PARTS (KEY_PARTS / 2)
#define KEYS_TOGETHER 4
#define QUERIES 4

// Prefetch distances in rows of the table and in bytes of codes.
#define ROWS_AHEAD 16
#define BYTES_AHEAD 512

// The tables of a band's channels, part by part.
typedef struct {
  Part parts[KEY_PARTS];
  Floats lows[KEY_PARTS], steps[KEY_PARTS];
  Floats same[KEY_PARTS];            // the row of the table that all keys have, if they have the same
} KeyBand;

INLINE void read_base(const KeyBand *band, const uint8_t *nibbles, Floats *x) {
  UNROLL for (int p = 0; p < HALF_PARTS; p++) {
    Ints both = load_nibbles(nibbles + LANES * p);
    x[p] = fused(lower_nibbles(both), band->steps[p], band->lows[p]);
    x[p + HALF_PARTS] = fused(upper_nibbles(both), band->steps[p + HALF_PARTS], band->lows[p + HALF_PARTS]);
  }
}

// Returns whether any of its parts spans more than sixteen bytes.
INLINE int lay_key_band(const Coded *from, const i32 *band, KeyBand *to) {
  i32 further = 0;
  UNROLL for (int p = 0; p < KEY_PARTS; p++) {
    to->parts[p] = part_of(band, KEY_WIDTH, LANES * p);
    to->lows[p] = load(from->lows + LANES * p);
    to->steps[p] = load(from->steps + LANES * p);
    further |= to->parts[p].further;
  }
  read_base(to, from->table + from->picked[0] * from->table_stride, to->same);
  return further != 0;
}

INLINE void make_key(const KeyBand *band, const Row *row, const float *cosines, const float *sines, Floats *key,
                     const int coded, const int far, const int same) {
  Floats x[KEY_PARTS];
  if (same) {
    UNROLL for (int p = 0; p < KEY_PARTS; p++) x[p] = band->same[p];
  } else {
    read_base(band, row->nibbles, x);
  }
  UNROLL for (int p = 0; p < KEY_PARTS; p++) {
    x[p] = coded ? decoded(row->codes, &band->parts[p], row->scale, x[p], far) : add(x[p], all(0));
  }
  UNROLL for (int p = 0; p < HALF_PARTS; p++) {
    Floats cos = load(cosines + LANES * p), sin = load(sines + LANES * p);
    key[p] = turned_x(x[p], x[p + HALF_PARTS], cos, sin);
    key[p + HALF_PARTS] = turned_y(x[p], x[p + HALF_PARTS], cos, sin);
  }
}

// Products with four queries, summed within 128-bit lanes, one number per query.
INLINE Floats products_in_lanes(const Floats *key, const float *queries) {
  Floats p[QUERIES];
  UNROLL for (int q = 0; q < QUERIES; q++) {
    p[q] = all(0);
    UNROLL for (int i = 0; i < KEY_PARTS; i++) p[q] = fused(load(queries + q * KEY_WIDTH + LANES * i), key[i], p[q]);
  }
  Floats ab = add(_mm512_shuffle_ps(p[0], p[1], 0x88), _mm512_shuffle_ps(p[0], p[1], 0xDD));
  Floats cd = add(_mm512_shuffle_ps(p[2], p[3], 0x88), _mm512_shuffle_ps(p[2], p[3], 0xDD));
  return add(_mm512_shuffle_ps(ab, cd, 0x88), _mm512_shuffle_ps(ab, cd, 0xDD));
}

// Adds the lanes of four keys: (keys, queries)
INLINE Floats totals_of_keys(const Floats *x) {
  Floats low = add(_mm512_shuffle_f32x4(x[0], x[1], 0x88), _mm512_shuffle_f32x4(x[0], x[1], 0xDD));
  Floats high = add(_mm512_shuffle_f32x4(x[2], x[3], 0x88), _mm512_shuffle_f32x4(x[2], x[3], 0xDD));
  return add(_mm512_shuffle_f32x4(low, high, 0x88), _mm512_shuffle_f32x4(low, high, 0xDD));
}

// Data common to the rows of all bands.
typedef struct {
  const uint8_t *tokens;
  const float *cosines, *sines;
  i32 rows;
  i64 code_bytes;
} KeyProducts;

// Rows of a page, at most.
#define MOST_KEYS 128

// c (QUERIES, rows), by token, from products (rows, QUERIES)
INLINE void leave_products(const float *products, const uint8_t *tokens, i64 rows, float *c) {
  uint8_t row_of_token[MOST_KEYS];
  for (i64 row = 0; row < rows; row++) row_of_token[tokens[row]] = (uint8_t)row;
  for (i64 token = 0; token < rows; token += KEYS_TOGETHER) {
    __m128 x[KEYS_TOGETHER];
    UNROLL for (int j = 0; j < KEYS_TOGETHER; j++) x[j] = _mm_loadu_ps(products + QUERIES * row_of_token[token + j]);
    _MM_TRANSPOSE4_PS(x[0], x[1], x[2], x[3]);
    UNROLL for (int q = 0; q < QUERIES; q++) _mm_storeu_ps(c + q * rows + token, x[q]);
  }
}

// Prefetches the data behind the codes: a head's values follow its keys.
INLINE void expect_codes(const uint8_t *codes, i64 bytes, i64 behind) {
  for (i64 byte = 0; byte < bytes; byte += 64) {
    __builtin_prefetch(codes + BYTES_AHEAD + byte);
    __builtin_prefetch(codes + behind + byte);
  }
}

// Compilers would load the data of all keys of a round before computing the first, more than registers hold, and would
// keep queries in the registers needed for the tables of channels.
INLINE void one_key_after_another(const float **queries) { __asm__ volatile("" : "+r"(*queries) : : "memory"); }

// Rows of a band, starting at index row of all rows; queries (QUERIES, KEY_WIDTH), products (rows, QUERIES)
INLINE void multiply_keys(const Coded *from, const KeyBand *band, const uint8_t *codes, i32 row_bytes, i32 row, i32 end,
                          const KeyProducts *to, const float *queries, float *products, const int coded, const int far,
                          const int same) {
  for (; row < end; row += KEYS_TOGETHER) {
    Floats lanes[KEYS_TOGETHER];
    expect_codes(codes, KEYS_TOGETHER * (i64)row_bytes, to->code_bytes);
    UNROLL for (int j = 0; j < KEYS_TOGETHER; j++, codes += row_bytes) {
      if (!same && row + j + ROWS_AHEAD < to->rows) expect_rows(from, row + j + ROWS_AHEAD, row + j + ROWS_AHEAD + 1);
      Row source;
      Floats key[KEY_PARTS];
      i64 angles = (i64)to->tokens[row + j] * KEY_HALF;
      take_rows(from, codes, row_bytes, row + j, 1, &source);
      make_key(band, &source, to->cosines + angles, to->sines + angles, key, coded, far, same);
      lanes[j] = products_in_lanes(key, queries);
      one_key_after_another(&queries);
    }
    store(products + QUERIES * row, totals_of_keys(lanes));
  }
}

// Returns whether queries and rows divide into whole rounds.
INLINE int are_whole_rounds(const i32 *bands, i32 band_count, i32 width, i32 a_rows) {
  i32 rest = 0;
  for (i32 band = 0; band < band_count; band++) rest |= bands[band * band_ints(width)] % KEYS_TOGETHER;
  return width == KEY_WIDTH && a_rows == QUERIES && rest == 0;
}

INLINE i64 bytes_of_bands(const i32 *bands, i32 band_count) {
  i64 bytes = 0;
  for (i32 band = 0; band < band_count; band++, bands += band_ints(KEY_WIDTH)) bytes += (i64)bands[0] * bands[1];
  return bytes;
}

INLINE void multiply_bands(const Coded *from, const i32 *bands, i32 band_count, const KeyProducts *to,
                           const float *a, float *products, float *c) {
  // Aligned to cache lines.
  float queries[QUERIES * KEY_WIDTH] __attribute__((aligned(64)));
  for (i32 i = 0; i < QUERIES * KEY_WIDTH; i += LANES) store(queries + i, load(a + i));
  const uint8_t *codes = from->codes;
  for (i32 byte = 0; byte < BYTES_AHEAD; byte += 64) __builtin_prefetch(codes + byte);
  i32 other = 0;
  for (i32 row = 0; row < to->rows; row++) other |= from->picked[row] ^ from->picked[0];
  KeyBand known;
  for (i32 band = 0, row = 0; band < band_count; band++, bands += band_ints(KEY_WIDTH)) {
    i32 end = row + bands[0];
#define MULTIPLY(coded, far, same) \
  multiply_keys(from, &known, codes, bands[1], row, end, to, queries, products, coded, far, same)
    int further = lay_key_band(from, bands, &known);
    if (further) {
      MULTIPLY(1, 1, 0);
    } else if (bands[1] && other) {
      MULTIPLY(1, 0, 0);
    } else if (bands[1]) {
      MULTIPLY(1, 0, 1);
    } else {
      MULTIPLY(0, 0, 0);
    }
#undef MULTIPLY
    codes += (i64)bands[0] * bands[1];
    row = end;
  }
  leave_products(products, to->tokens, to->rows, c);
}
