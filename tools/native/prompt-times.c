// Times the native kernels that prompts are read with, on one thread of an ARM processor with dot products, and holds
// those for many rows to the bits of those for few. Thread time, the least of fifteen turns.
#define _GNU_SOURCE
#define ISA dotprod
#define CODED_BLOCK "coded_neon.h"
#include "coded.h"
#include "floats.h"
#include "manyrows.h"
#include "weigh.h"
#include "dots.h"
#include "manydots.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TURNS 15
#define ROWS 64
#define HEADS 8
#define TOKENS 128
#define CHANNELS 64
#define PAGES 64   // more than the second cache holds

static double thread_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1e9 + now.tv_nsec;
}

#define TIME(name, units, body)                                          \
  {                                                                      \
    double least = 1e30;                                                 \
    for (int turn = 0; turn < TURNS; turn++) {                           \
      double begin = thread_ns();                                        \
      for (int page = 0; page < PAGES; page++) body;                     \
      double took = (thread_ns() - begin) / PAGES;                       \
      least = took < least ? took : least;                               \
    }                                                                    \
    printf("%-44s %6.2f\n", name, least / (units));                      \
  }

static float *floats(i64 count) {
  float *x = aligned_alloc(64, (4 * count + 63) / 64 * 64);
  for (i64 i = 0; i < count; i++) x[i] = (rand() % 2000 - 1000) / 900.0f;
  return x;
}

static uint8_t *bytes(i64 count) {
  uint8_t *x = aligned_alloc(64, (count + 63) / 64 * 64);
  for (i64 i = 0; i < count; i++) x[i] = rand();
  return x;
}

static uint8_t *halves(i64 count) {
  uint16_t *x = (uint16_t *)bytes(2 * count);
  for (i64 i = 0; i < count; i++) x[i] &= 0xBBFF;   // below 2 in magnitude
  return (uint8_t *)x;
}

static void same(const char *what, const float *a, const float *b, i64 count) {
  if (memcmp(a, b, 4 * count)) {
    printf("%s: the bits differ\n", what);
    exit(1);
  }
}

static void time_halves(void) {
  float *q = floats(ROWS * CHANNELS), *room = floats(ROOM_FLOATS);
  float *scores = floats(ROWS * TOKENS), *more = floats(ROWS * TOKENS);
  float *out = calloc(ROWS * CHANNELS, 4), *outs = calloc(ROWS * CHANNELS, 4);
  uint8_t *kv = halves((i64)PAGES * TOKENS * CHANNELS);
  i64 page_bytes = 2 * TOKENS * CHANNELS;
  double units = ROWS * TOKENS;
  TIME("scores, 16-bit floats, 8 rows", units, for (int i = 0; i < ROWS; i += 8) {
    kv_dense_products_dotprod(q + i * CHANNELS, 8, scores, i * TOKENS, TOKENS, kv, page * page_bytes, TOKENS,
                              CHANNELS, 0);
  })
  TIME("scores, 16-bit floats, 64 rows", units,
       kv_many_products_dotprod(q, 0, more, 0, TOKENS, ROWS, kv, page * page_bytes, TOKENS, CHANNELS, 0, room))
  same("scores", scores, more, ROWS * TOKENS);
  TIME("sums of values, 16-bit floats, 8 rows", units, for (int i = 0; i < ROWS; i += 8) {
    kv_half_sums_dotprod(q, i, 1, out, i * CHANNELS, CHANNELS, 8, kv, page * page_bytes, TOKENS, CHANNELS, 0);
  })
  TIME("sums of values, 16-bit floats, 64 rows", units,
       kv_many_sums_dotprod(q, 0, 1, outs, 0, CHANNELS, ROWS, kv, page * page_bytes, TOKENS, CHANNELS, 0, room))
  same("sums", out, outs, ROWS * CHANNELS);
  TIME("largest score", units, for (int i = 0; i < ROWS; i++) {
    out[i] = kv_maximum_dotprod(scores, i * TOKENS, TOKENS);
  })
  TIME("exponentials", units, for (int i = 0; i < ROWS; i++) {
    out[i] = kv_exponentiate_dotprod(scores, i * TOKENS, TOKENS, 3);
  })
}

static void time_codes(void) {
  float *x = floats(HEADS * TOKENS), *scales = floats(3 * TOKENS), *products = floats(HEADS * TOKENS);
  float *surveys = floats(3 * HEADS), *units = floats(HEADS), *constants = floats(HEADS);
  float *out = calloc(HEADS * TOKENS, 4), *outs = calloc(HEADS * TOKENS, 4);
  i8 *digits = (i8 *)bytes(2 * HEADS * TOKENS + 64);
  uint8_t *kv = bytes((i64)PAGES * TOKENS * CHANNELS / 4), *steps = halves(2 * TOKENS), *room = bytes(4 * ROOM_FLOATS);
  i32 totals[HEADS];
  i64 page_bytes = TOKENS * CHANNELS / 4;
  double rows = HEADS * TOKENS;
  TIME("queries to integers, a page", rows,
       kv_weigh_dotprod(x, 0, TOKENS, HEADS, CHANNELS, steps, 0, 2 * CHANNELS, 1, 1, 1, scales, products, digits,
                        surveys, totals))
  TIME("scores, 2 bits, few heads", rows,
       kv_add_dots_dotprod(out, 0, TOKENS, kv, page * page_bytes, CHANNELS / 4, 2, 0, TOKENS / 16, digits, HEADS, 1,
                           units, constants))
  TIME("scores, 2 bits, many heads", rows,
       kv_many_dots_dotprod(outs, 0, TOKENS, kv, page * page_bytes, CHANNELS / 4, 2, 0, TOKENS / 16, digits, HEADS, 1,
                            units, constants, room))
  same("scores of codes", out, outs, HEADS * TOKENS);
  TIME("weights to integers, a page", rows,
       kv_weigh_dotprod(x, 0, TOKENS, HEADS, TOKENS, steps, 0, 2 * TOKENS, 1, 1, 1, scales, products, digits, surveys,
                        totals))
  TIME("sums of values, 2 bits, few heads", rows,
       kv_add_dots_dotprod(out, 0, TOKENS, kv, page * page_bytes, TOKENS / 4, 2, 0, CHANNELS / 16, digits, HEADS, 1,
                           units, constants))
  TIME("sums of values, 2 bits, many heads", rows,
       kv_many_dots_dotprod(outs, 0, TOKENS, kv, page * page_bytes, TOKENS / 4, 2, 0, CHANNELS / 16, digits, HEADS, 1,
                            units, constants, room))
  same("sums of codes", out, outs, HEADS * TOKENS);
}

static void time_products(i32 bits, i32 group) {
  enum { MATRIX_ROWS = 512, COLUMNS_OF_ALL = 512, ACTIVATIONS = 256 };
  i64 weights = MATRIX_ROWS * COLUMNS_OF_ALL, values = ACTIVATIONS * COLUMNS_OF_ALL;
  i8 *codes = (i8 *)bytes(weights), *x = (i8 *)bytes(values);
  float *scales = floats(weights / group), *x_scales = floats(values / GROUP), *sums = floats(values / SUM_GROUP);
  i32 *code_sums = (i32 *)bytes(4 * values / SUM_GROUP);
  float *out = floats(ACTIVATIONS * MATRIX_ROWS);
  char name[64];
  snprintf(name, sizeof name, "weights of %d bits, a scale for %d columns", bits, group);
  TIME(name, TILE * values / 1000.0,
       kv_coded_products_dotprod(out, codes, (uint8_t *)scales, 0, 0, 0, 0, FLOATS, 0, bits, 0, group, COLUMNS_OF_ALL,
                                 MATRIX_ROWS, page % 32, page % 32 + 1, x, x_scales, code_sums, sums, 0, ACTIVATIONS))
}

int main(void) {
  printf("nanoseconds for each row and token, heads of %d channels, pages of %d tokens\n", CHANNELS, TOKENS);
  time_halves();
  time_codes();
  printf("nanoseconds for 1000 multiply-adds, 256 rows by 512 by 512\n");
  time_products(8, 32);
  time_products(4, 32);
  time_products(4, 16);
}
