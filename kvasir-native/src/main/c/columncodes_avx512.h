// Sums of interleaved codes by VPDPBUSD, for columnsums.h. The byte column of a channel, repeated four times, is
// multiplied with the digits of sixteen rows' weights for four sums at once.
//
//   one column:   c0 .. c15 | c0 .. c15 | c0 .. c15 | c0 .. c15     bytes of sixteen rows
//   low digits:   sum 0     | sum 1     | sum 2     | sum 3         of the same rows; high digits as well
//
// Weights are the unsigned operand, so codes are the signed one: a code that has the highest bit of its byte is read as
// code - 128, and 128 times the sum of weights is added back.
#define CHANNELS_TOGETHER 4

typedef struct {
  __m512i low[MOST_COLUMN_ROWS / COLUMN], high[MOST_COLUMN_ROWS / COLUMN];
  float unit[TOGETHER];
} Digits;

// The j-th 32-bit numbers of all 128-bit lanes, contiguous.
INLINE __m512i lanes_by_place(__m512i x) {
  return _mm512_permutexvar_epi32(_mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15), x);
}

// Numbers below 2^8 of sixteen rows, for each of the sums.
INLINE __m512i bytes_of_sums(const __m512i *x) {
  return lanes_by_place(_mm512_packus_epi16(_mm512_packus_epi32(x[0], x[1]), _mm512_packus_epi32(x[2], x[3])));
}

// weights (TOGETHER, rows); ties to even
INLINE void round_to_digits(const float *weights, i32 rows, Digits *to) {
  __m512 factors[TOGETHER];
  UNROLL for (int r = 0; r < TOGETHER; r++) {
    factors[r] = all(factor_of(largest_weight(weights + r * (i64)rows, rows), &to->unit[r]));
  }
  for (i32 row = 0; row < rows; row += COLUMN) {
    __m512i low[TOGETHER], high[TOGETHER];
    UNROLL for (int r = 0; r < TOGETHER; r++) {
      __m512 lifted = add(multiply(load(weights + r * (i64)rows + row), factors[r]), all(ROUNDER));
      __m512i whole = _mm512_castps_si512(lifted);
      low[r] = _mm512_and_si512(whole, _mm512_set1_epi32(0xFF));
      high[r] = _mm512_and_si512(_mm512_srli_epi32(whole, 8), _mm512_set1_epi32(0x7F));
    }
    to->low[row / COLUMN] = bytes_of_sums(low);
    to->high[row / COLUMN] = bytes_of_sums(high);
  }
}

// Adds the four numbers of every 128-bit lane; the results of four vectors are contiguous.
INLINE __m512i totals_of_lanes(__m512i a, __m512i b, __m512i c, __m512i d) {
  __m512i ab = _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
  __m512i cd = _mm512_add_epi32(_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
  return _mm512_add_epi32(_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd));
}

INLINE __m512i with_high_digits(__m512i low, __m512i high) {
  return _mm512_add_epi32(low, _mm512_slli_epi32(high, 8));
}

// Sums of the integers of rows, broadcast over the lane of each sum.
INLINE __m512i totals_of_digits(const Digits *digits, i32 first, i32 end) {
  __m512i low = _mm512_setzero_si512(), high = low, ones = _mm512_set1_epi8(1);
  for (i32 column = first / COLUMN; column < end / COLUMN; column++) {
    low = _mm512_dpbusd_epi32(low, digits->low[column], ones);
    high = _mm512_dpbusd_epi32(high, digits->high[column], ones);
  }
  __m512i all = with_high_digits(low, high);
  return totals_of_lanes(all, all, all, all);
}

// The low byte of a channel's number, broadcast over a vector.
INLINE __m512i byte_of_channel(__m512i of_channels, const int channel) {
  return _mm512_shuffle_epi8(of_channels, _mm512_set1_epi8((char)(4 * channel)));
}

// a & b ^ c
INLINE __m512i and_xor(__m512i a, __m512i b, __m512i c) { return _mm512_ternarylogic_epi32(a, b, c, 0x6A); }

INLINE __m512i load_column_often(const uint8_t *at) {
  return _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)at));
}

// A few channels whose codes are all within one byte, or all in two. In the vectors, every 128-bit lane has a number
// for each channel.
typedef struct {
  const uint8_t *columns[CHANNELS_TOGETHER];
  u32 shifts[CHANNELS_TOGETHER];
  __m512i shift, bits, mask;
} Channels;

// entries (count, 2), as in CodeBands; missing ones have no bits
INLINE Channels channels_of(const uint8_t *codes, const i32 *entries, int count) {
  Channels channels;
  __mmask16 there = (__mmask16)((1 << 2 * count) - 1);
  __m512i all = _mm512_maskz_loadu_epi32(there, entries);
  __m512i first = _mm512_permutexvar_epi32(_mm512_set4_epi32(6, 4, 2, 0), all);
  __m512i second = _mm512_permutexvar_epi32(_mm512_set4_epi32(7, 5, 3, 1), all);
  channels.bits = _mm512_and_si512(second, _mm512_set1_epi32(15));
  channels.shift = _mm512_and_si512(first, _mm512_set1_epi32(7));
  __m512i one = _mm512_set1_epi32(1);
  channels.mask = _mm512_sub_epi32(_mm512_sllv_epi32(one, channels.bits), one);
  UNROLL for (int k = 0; k < CHANNELS_TOGETHER; k++) {
    u32 bit = k < count ? (u32)entries[2 * k] : 0;
    channels.columns[k] = codes + COLUMN * (i64)(bit / 8);
    channels.shifts[k] = bit % 8;
  }
  return channels;
}

// Sums of masked bytes, or of bytes that codes are assembled to: (sums, channels), less 128 times the weights if a mask
// has the highest bit.
INLINE __m512i sum_bytes(const Channels *channels, __m512i masks, i64 stride, const Digits *digits, i32 first, i32 end,
                         const int split) {
  __m512i low[CHANNELS_TOGETHER], high[CHANNELS_TOGETHER], mask[CHANNELS_TOGETHER], flip[CHANNELS_TOGETHER];
  __m512i near[CHANNELS_TOGETHER], down[CHANNELS_TOGETHER], up[CHANNELS_TOGETHER];
  UNROLL for (int k = 0; k < CHANNELS_TOGETHER; k++) {
    low[k] = high[k] = _mm512_setzero_si512();
    mask[k] = byte_of_channel(masks, k);
    flip[k] = _mm512_and_si512(mask[k], _mm512_set1_epi8((char)0x80));
    if (split) {
      near[k] = _mm512_set1_epi8((char)(0xFF >> channels->shifts[k]));
      mask[k] = _mm512_andnot_si512(near[k], mask[k]);
      down[k] = _mm512_set1_epi16((int16_t)channels->shifts[k]);
      up[k] = _mm512_sub_epi16(_mm512_set1_epi16(8), down[k]);
    }
  }
  const i64 last = (end - first) / COLUMN;
  for (i64 column = 0; column < last; column++) {
    __m512i low_weights = digits->low[first / COLUMN + column], high_weights = digits->high[first / COLUMN + column];
    UNROLL for (int k = 0; k < CHANNELS_TOGETHER; k++) {
      const uint8_t *at = channels->columns[k] + column * stride;
      __m512i bytes = load_column_often(at), code;
      if (split) {
        __m512i next = load_column_often(at + COLUMN);
        bytes = _mm512_srlv_epi16(bytes, down[k]);
        next = _mm512_sllv_epi16(next, up[k]);
        code = and_xor(next, mask[k], and_xor(bytes, near[k], flip[k]));
      } else {
        code = and_xor(bytes, mask[k], flip[k]);
      }
      low[k] = _mm512_dpbusd_epi32(low[k], low_weights, code);
      high[k] = _mm512_dpbusd_epi32(high[k], high_weights, code);
    }
  }
  UNROLL for (int k = 0; k < CHANNELS_TOGETHER; k++) low[k] = with_high_digits(low[k], high[k]);
  return totals_of_lanes(low[0], low[1], low[2], low[3]);
}

// Adds a few channels' part of a band; halves (count), sums (width, TOGETHER)
INLINE void add_channels(const uint8_t *codes, i64 row_bytes, const i32 *entries, const float *halves, int count,
                         const Digits *digits, __m512i of_weights, i32 first, i32 end, float *sums, const int split) {
  Channels channels = channels_of(codes, entries, count);
  __m512i masks = split ? channels.mask : _mm512_sllv_epi32(channels.mask, channels.shift);
  __m512i sum = sum_bytes(&channels, masks, COLUMN * row_bytes, digits, first, end, split);
  __mmask16 flipped = _mm512_test_epi32_mask(masks, _mm512_set1_epi32(0x80));
  sum = _mm512_mask_add_epi32(sum, flipped, sum, _mm512_slli_epi32(of_weights, 7));
  if (!split) sum = _mm512_srav_epi32(sum, channels.shift);
  sum = _mm512_add_epi32(_mm512_slli_epi32(sum, 1), _mm512_sub_epi32(of_weights, _mm512_sllv_epi32(of_weights, channels.bits)));
  float products[LANES];
  store(products, _mm512_cvtepi32_ps(lanes_by_place(sum)));
  Four units = load_four(digits->unit);
  UNROLL for (int k = 0; k < CHANNELS_TOGETHER; k++) {
    if (k < count) {
      float *to = sums + TOGETHER * (i64)(entries[2 * k + 1] >> 4);
      store_four(to, fused_four(load_four(products + 4 * k), units * halves[k], load_four(to)));
    }
  }
}

INLINE void add_band(const uint8_t *codes, const i32 *band, i32 width, const Digits *digits, i32 first, i32 end,
                     float *sums) {
  __m512i of_weights = totals_of_digits(digits, first, end);
  const i32 *entries = band + BAND_HEADER;
  const float *halves = (const float *)(entries + 2 * (i64)width);
  i32 j = 0, whole = band[3], coded = band[2];
#define ADD_CHANNELS(count, split) \
  add_channels(codes, band[1], entries + 2 * j, halves + j, count, digits, of_weights, first, end, sums, split)
  for (; j + CHANNELS_TOGETHER <= whole; j += CHANNELS_TOGETHER) ADD_CHANNELS(CHANNELS_TOGETHER, 0);
  if (j < whole) ADD_CHANNELS(whole - j, 0);
  for (j = whole; j + CHANNELS_TOGETHER <= coded; j += CHANNELS_TOGETHER) ADD_CHANNELS(CHANNELS_TOGETHER, 1);
  if (j < coded) ADD_CHANNELS(coded - j, 1);
#undef ADD_CHANNELS
}
