// What ggml decodes from random blocks of every type; README.md says how to build and run it.
//
// usage: goldens FOLDER
//
// Writes sweep.txt, a line "TYPE HASH" for each type: the FNV-1a hash of what BLOCKS blocks decode to. For types of which
// there are no blocks that ggml quantized, also the first VALUES values: TYPE.blocks and what they decode to, TYPE.f32.
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ggml-quants.h"

enum { BLOCKS = 4096, VALUES = 512, LONGEST_BLOCK = 256 };

typedef void (*decoder)(const void *blocks, float *values, int64_t count);

// Bit 6 of bytes high1 and high2 is cleared: the highest bit of the exponent of a scale, so that all are finite.
typedef struct {
  const char *name;
  uint64_t seed;
  size_t length, bytes;
  int high1, high2;
  int written;
  decoder decode;
} type;

#define OF(NAME, number, length, bytes, high1, high2, written, function) \
  {NAME, number, length, bytes, high1, high2, written, (decoder)function}

static const type TYPES[] = {
    OF("Q4_0", 2, 32, sizeof(block_q4_0), 1, 1, 0, dequantize_row_q4_0),
    OF("Q4_1", 3, 32, sizeof(block_q4_1), 1, 3, 0, dequantize_row_q4_1),
    OF("Q5_0", 6, 32, sizeof(block_q5_0), 1, 1, 0, dequantize_row_q5_0),
    OF("Q5_1", 7, 32, sizeof(block_q5_1), 1, 3, 0, dequantize_row_q5_1),
    OF("Q8_0", 8, 32, sizeof(block_q8_0), 1, 1, 0, dequantize_row_q8_0),
    OF("Q2_K", 10, 256, sizeof(block_q2_K), 81, 83, 0, dequantize_row_q2_K),
    OF("Q3_K", 11, 256, sizeof(block_q3_K), 109, 109, 0, dequantize_row_q3_K),
    OF("Q4_K", 12, 256, sizeof(block_q4_K), 1, 3, 0, dequantize_row_q4_K),
    OF("Q5_K", 13, 256, sizeof(block_q5_K), 1, 3, 0, dequantize_row_q5_K),
    OF("Q6_K", 14, 256, sizeof(block_q6_K), 209, 209, 0, dequantize_row_q6_K),
    OF("Q8_K", 15, 256, sizeof(block_q8_K), 3, 3, 1, dequantize_row_q8_K),
    OF("IQ2_XXS", 16, 256, sizeof(block_iq2_xxs), 1, 1, 1, dequantize_row_iq2_xxs),
    OF("IQ2_XS", 17, 256, sizeof(block_iq2_xs), 1, 1, 1, dequantize_row_iq2_xs),
    OF("IQ3_XXS", 18, 256, sizeof(block_iq3_xxs), 1, 1, 1, dequantize_row_iq3_xxs),
    OF("IQ1_S", 19, 256, sizeof(block_iq1_s), 1, 1, 1, dequantize_row_iq1_s),
    OF("IQ4_NL", 20, 32, sizeof(block_iq4_nl), 1, 1, 0, dequantize_row_iq4_nl),
    OF("IQ3_S", 21, 256, sizeof(block_iq3_s), 1, 1, 1, dequantize_row_iq3_s),
    OF("IQ2_S", 22, 256, sizeof(block_iq2_s), 1, 1, 1, dequantize_row_iq2_s),
    OF("IQ4_XS", 23, 256, sizeof(block_iq4_xs), 1, 1, 1, dequantize_row_iq4_xs),
    OF("IQ1_M", 29, 256, sizeof(block_iq1_m), 55, 55, 1, dequantize_row_iq1_m),
    OF("TQ1_0", 34, 256, sizeof(block_tq1_0), 53, 53, 1, dequantize_row_tq1_0),
    OF("TQ2_0", 35, 256, sizeof(block_tq2_0), 65, 65, 1, dequantize_row_tq2_0),
    OF("MXFP4", 39, 32, sizeof(block_mxfp4), 0, 0, 1, dequantize_row_mxfp4),
    OF("NVFP4", 40, 64, sizeof(block_nvfp4), 0, 0, 1, dequantize_row_nvfp4),
    OF("Q1_0", 41, 128, sizeof(block_q1_0), 1, 1, 1, dequantize_row_q1_0),
    OF("Q2_0", 42, 64, sizeof(block_q2_0), 1, 1, 1, dequantize_row_q2_0),
};

static void fill(const type *t, uint8_t *blocks) {
  uint64_t state = t->seed;
  for (size_t i = 0; i < BLOCKS * t->bytes; i++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    blocks[i] = state >> 56;
  }
  for (size_t block = 0; block < BLOCKS; block++) {
    blocks[block * t->bytes + t->high1] &= 0xBF;
    blocks[block * t->bytes + t->high2] &= 0xBF;
  }
}

static uint64_t hash(const float *values, size_t count) {
  uint64_t h = 0xcbf29ce484222325u;
  for (size_t i = 0; i < count; i++) {
    float value = values[i] + 0.0f; // a zero has no sign here
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    for (int byte = 0; byte < 4; byte++) {
      h = (h ^ (bits >> 8 * byte & 255)) * 0x100000001b3u;
    }
  }
  return h;
}

static FILE *open_in(const char *folder, const char *name, const char *ending) {
  char path[4096];
  int at = snprintf(path, sizeof path, "%s/", folder);
  for (; *name; name++) {
    path[at++] = (char)tolower((unsigned char)*name);
  }
  strcpy(path + at, ending);
  FILE *file = fopen(path, "wb");
  if (!file) {
    perror(path);
    exit(1);
  }
  return file;
}

static void write_all(const char *folder, const type *t, const char *ending, const void *data, size_t bytes) {
  FILE *file = open_in(folder, t->name, ending);
  fwrite(data, 1, bytes, file);
  fclose(file);
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: goldens FOLDER\n");
    return 2;
  }
  static float values[BLOCKS * LONGEST_BLOCK];
  static uint8_t blocks[BLOCKS * sizeof(block_q8_K)];
  FILE *sweep = open_in(argv[1], "sweep", ".txt");
  for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++) {
    const type *t = &TYPES[i];
    fill(t, blocks);
    t->decode(blocks, values, (int64_t)(BLOCKS * t->length));
    fprintf(sweep, "%s %016" PRIx64 "\n", t->name, hash(values, BLOCKS * t->length));
    if (t->written) {
      write_all(argv[1], t, ".blocks", blocks, VALUES / t->length * t->bytes);
      write_all(argv[1], t, ".f32", values, VALUES * sizeof(float));
    }
  }
  fclose(sweep);
  return 0;
}
