// Products of four queries with rows of 64 or 128 channels, for rowcodes.h: a row is decoded, rotated and multiplied in
// registers. The number of its vectors, parts, is a constant wherever this is inlined.
#define MOST_KEY_PARTS 8
#define KEYS_TOGETHER 4
#define QUERIES 4

// Prefetch distances in rows of the table and in bytes of codes.
#define ROWS_AHEAD 16
#define BYTES_AHEAD 512

// The tables of a band's channels, part by part.
typedef struct {
  Part parts[MOST_KEY_PARTS];
  Floats lows[MOST_KEY_PARTS], steps[MOST_KEY_PARTS];
  Floats same[MOST_KEY_PARTS];       // the row of the table that all keys have, if they have the same
} KeyBand;

INLINE void read_base(const KeyBand *band, const uint8_t *nibbles, const int parts, Floats *x) {
  const int half = parts / 2;
  UNROLL for (int p = 0; p < half; p++) {
    Ints both = load_nibbles(nibbles + LANES * p);
    x[p] = fused(lower_nibbles(both), band->steps[p], band->lows[p]);
    x[p + half] = fused(upper_nibbles(both), band->steps[p + half], band->lows[p + half]);
  }
}

// Returns whether any of its parts spans more than sixteen bytes.
INLINE int lay_key_band(const Coded *from, const i32 *band, const int parts, KeyBand *to) {
  i32 further = 0;
  UNROLL for (int p = 0; p < parts; p++) {
    to->parts[p] = part_of(band, LANES * parts, LANES * p);
    to->lows[p] = load(from->lows + LANES * p);
    to->steps[p] = load(from->steps + LANES * p);
    further |= to->parts[p].further;
  }
  read_base(to, from->table + from->picked[0] * from->table_stride, parts, to->same);
  return further != 0;
}

INLINE void make_key(const KeyBand *band, const Row *row, const float *cosines, const float *sines, const int parts,
                     Floats *key, const int coded, const int far, const int same) {
  const int half = parts / 2;
  Floats x[MOST_KEY_PARTS];
  if (same) {
    UNROLL for (int p = 0; p < parts; p++) x[p] = band->same[p];
  } else {
    read_base(band, row->nibbles, parts, x);
  }
  UNROLL for (int p = 0; p < parts; p++) {
    x[p] = coded ? decoded(row->codes, &band->parts[p], row->scale, x[p], far) : add(x[p], all(0));
  }
  UNROLL for (int p = 0; p < half; p++) {
    Floats cos = load(cosines + LANES * p), sin = load(sines + LANES * p);
    key[p] = turned_x(x[p], x[p + half], cos, sin);
    key[p + half] = turned_y(x[p], x[p + half], cos, sin);
  }
}

// Products with four queries, summed within 128-bit lanes, one number per query.
INLINE Floats products_in_lanes(const Floats *key, const float *queries, const int parts) {
  Floats p[QUERIES];
  UNROLL for (int q = 0; q < QUERIES; q++) {
    p[q] = all(0);
    UNROLL for (int i = 0; i < parts; i++) p[q] = fused(load(queries + LANES * (q * parts + i)), key[i], p[q]);
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

// Rows of a band, starting at index row of all rows; queries (QUERIES, parts), products (rows, QUERIES)
INLINE void multiply_keys(const Coded *from, const KeyBand *band, const uint8_t *codes, i32 row_bytes, i32 row, i32 end,
                          const KeyProducts *to, const float *queries, const int parts, float *products,
                          const int coded, const int far, const int same) {
  for (; row < end; row += KEYS_TOGETHER) {
    Floats lanes[KEYS_TOGETHER];
    expect_codes(codes, KEYS_TOGETHER * (i64)row_bytes, to->code_bytes);
    UNROLL for (int j = 0; j < KEYS_TOGETHER; j++, codes += row_bytes) {
      if (!same && row + j + ROWS_AHEAD < to->rows) expect_rows(from, row + j + ROWS_AHEAD, row + j + ROWS_AHEAD + 1);
      Row source;
      Floats key[MOST_KEY_PARTS];
      i64 angles = (i64)to->tokens[row + j] * (LANES * parts / 2);
      take_rows(from, codes, row_bytes, row + j, 1, &source);
      make_key(band, &source, to->cosines + angles, to->sines + angles, parts, key, coded, far, same);
      lanes[j] = products_in_lanes(key, queries, parts);
      one_key_after_another(&queries);
    }
    store(products + QUERIES * row, totals_of_keys(lanes));
  }
}

// Returns whether queries and rows divide into whole rounds.
INLINE int are_whole_rounds(const i32 *bands, i32 band_count, i32 width, i32 a_rows) {
  i32 rest = 0;
  for (i32 band = 0; band < band_count; band++) rest |= bands[band * band_ints(width)] % KEYS_TOGETHER;
  return (width == 64 || width == 128) && a_rows == QUERIES && rest == 0;
}

INLINE i64 bytes_of_bands(const i32 *bands, i32 band_count, i32 width) {
  i64 bytes = 0;
  for (i32 band = 0; band < band_count; band++, bands += band_ints(width)) bytes += (i64)bands[0] * bands[1];
  return bytes;
}

INLINE void multiply_bands(const Coded *from, const i32 *bands, i32 band_count, const KeyProducts *to,
                           const float *a, const int parts, float *products, float *c) {
  // Aligned to cache lines.
  float queries[QUERIES * MOST_KEY_PARTS * LANES] __attribute__((aligned(64)));
  for (i32 i = 0; i < QUERIES * parts * LANES; i += LANES) store(queries + i, load(a + i));
  const uint8_t *codes = from->codes;
  for (i32 byte = 0; byte < BYTES_AHEAD; byte += 64) __builtin_prefetch(codes + byte);
  i32 other = 0;
  for (i32 row = 0; row < to->rows; row++) other |= from->picked[row] ^ from->picked[0];
  KeyBand known;
  for (i32 band = 0, row = 0; band < band_count; band++, bands += band_ints(LANES * parts)) {
    i32 end = row + bands[0];
#define MULTIPLY(coded, far, same) \
  multiply_keys(from, &known, codes, bands[1], row, end, to, queries, parts, products, coded, far, same)
    int further = lay_key_band(from, bands, parts, &known);
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
