// Searches the codes of vectors stage by stage, with a beam. Vectors may be long, such as the values of all KV heads of a
// token, so that residuals are in shared memory for a few tokens, and rows of a stage for a part of them at a time.
#pragma once
#include "commvq.cuh"

constexpr int BLOCK_TOKENS = 2 * PAGE_TOKENS;
constexpr int STAGE_ROWS = 2 * CODEBOOK_ROWS;   // first and second ones
constexpr int STAGE_SQUARES = CODEBOOK_ROWS * CODEBOOK_ROWS;
constexpr int SEARCH_WARPS = 8;
constexpr int MOST_BEAM = 4;
constexpr int HOST_SUMS = 16;   // partial sums of a product on the host: the k-th number goes to sum k % 16

// Keys, or values, of all layers. CommvqPageQuantizer has the same fields in the same order.
struct CodedVectors {
  const float* books;   // (layers, count) search tables
  float* vectors;       // (layers, count, 128, length)
  float* lengths;       // (layers, 128)
  double2* fits;        // (layers, count, 128): dot product of a vector and its sum of rows, square of the sum
  u16* codes;           // (layers, count, 128, stages)
  u32 count;            // vectors of a token
  u32 length;           // channels of a vector, a multiple of 64
  u32 stages;
  u32 unused;

  // A search table, in floats: (stages) times 128 rows; (stages) times squared lengths of centroids (64 second, 64 first); the
  // mean. Channels of keys are x of all pairs, then y.
  DEVICE const float* table(int layer, int which) const {
    return books + ((size_t)layer * count + which) * ((size_t)stages * (STAGE_ROWS * length + STAGE_SQUARES) + length);
  }
  DEVICE const float* mean(int layer, int which) const {
    return table(layer, which) + (size_t)stages * (STAGE_ROWS * length + STAGE_SQUARES);
  }
  DEVICE size_t vector(int layer, int which, int token) const {
    return ((size_t)layer * count + which) * BLOCK_TOKENS + token;
  }
};

// How a block searches; CommvqPageQuantizer chooses by shared memory.
struct Search {
  u32 beam;     // beam width, up to 4
  u32 tokens;   // of a block
  u32 rows;     // of a stage that are in shared memory at a time
};

// The beam of each token after some stages; vectors are (tokens, beam).
struct Beams {
  float* residuals;   // (vectors, stride)
  float* errors;      // (vectors)
  u16* codes;         // (vectors, stages)
};

// Shared memory of a block. Rows of a matrix start in different banks.
//
//   residuals  (2, tokens * beam, length + 4) floats        products  (tokens * beam, 128)     errors  (2, tokens * beam)
//   rows       (rows, length + 4)                           squares   (64 second, 64 first)    codes   (2, tokens * beam, stages) u16
struct SearchMemory {
  int stride;
  float *rows, *squares, *products;
  Beams beams[2];

  DEVICE SearchMemory(const CodedVectors& v, const Search& s) : stride(v.length + 4) {
    const int vectors = s.tokens * s.beam;
    float* at = reinterpret_cast<float*>(dynamicMemory);
    auto next = [&](int floats) { float* own = at; at += floats; return own; };
    beams[0].residuals = next(vectors * stride);
    beams[1].residuals = next(vectors * stride);
    rows = next(s.rows * stride);
    squares = next(STAGE_SQUARES);
    products = next(vectors * STAGE_ROWS);
    beams[0].errors = next(vectors);
    beams[1].errors = next(vectors);
    beams[0].codes = reinterpret_cast<u16*>(at);
    beams[1].codes = beams[0].codes + vectors * v.stages;
  }
};

// Multiplies two residuals with ROWS rows per thread at a time. Four threads share a product: each has four of the host's
// partial sums, and neighbouring sums are added pairwise.
// first: of the rows that are in shared memory
template <int ROWS>
DEVICE void multiplyRows(const SearchMemory& m, const float* residuals, const CodedVectors& v, const Search& s, int before,
                         int first) {
  constexpr int PARTS = HOST_SUMS / 4;
  const int groups = s.rows / ROWS;   // rows g, g + groups, ...
  const int pairs = (s.tokens * before + 1) / 2, units = pairs * groups * PARTS;
#pragma unroll 1
  for (int begin = 0; begin < units; begin += blockDim.x) {
    const int unit = min(begin + (int)threadIdx.x, units - 1), part = threadIdx.x % PARTS;
    const int group = unit / PARTS % groups, pair = unit / PARTS / groups;
    int vector[2];
#pragma unroll
    for (int i = 0; i < 2; i++) {
      const int index = min(2 * pair + i, (int)s.tokens * before - 1);
      vector[i] = index / before * s.beam + index % before;
    }
    const float* x[2] = {residuals + vector[0] * m.stride, residuals + vector[1] * m.stride};
    const float* rows = m.rows + group * m.stride;
    float4 sum[2][ROWS];
#pragma unroll
    for (int i = 0; i < 2; i++) {
#pragma unroll
      for (int r = 0; r < ROWS; r++) sum[i][r] = float4{0.f, 0.f, 0.f, 0.f};
    }
#pragma unroll 2
    for (int k = 4 * part; k < v.length; k += HOST_SUMS) {
      const float4 own[2] = {*reinterpret_cast<const float4*>(x[0] + k), *reinterpret_cast<const float4*>(x[1] + k)};
#pragma unroll
      for (int r = 0; r < ROWS; r++) {
        const float4 row = *reinterpret_cast<const float4*>(rows + r * groups * m.stride + k);
#pragma unroll
        for (int i = 0; i < 2; i++) {
          sum[i][r].x = fmaf(own[i].x, row.x, sum[i][r].x);
          sum[i][r].y = fmaf(own[i].y, row.y, sum[i][r].y);
          sum[i][r].z = fmaf(own[i].z, row.z, sum[i][r].z);
          sum[i][r].w = fmaf(own[i].w, row.w, sum[i][r].w);
        }
      }
    }
#pragma unroll
    for (int i = 0; i < 2; i++) {
#pragma unroll
      for (int r = 0; r < ROWS; r++) {
        const float4 four = sum[i][r];
        float all = __fadd_rn(__fadd_rn(four.x, four.y), __fadd_rn(four.z, four.w));
        all = __fadd_rn(all, __shfl_xor_sync(ALL_LANES, all, 1));
        all = __fadd_rn(all, __shfl_xor_sync(ALL_LANES, all, 2));
        if (part == 0) m.products[vector[i] * STAGE_ROWS + first + group + groups * r] = all;
      }
    }
  }
}

// The smallest of a warp's numbers; ties go to the lower order.
struct Least {
  float value;
  int order;

  DEVICE void take(float other, int itsOrder) {
    if (other < value || (other == value && itsOrder < order)) { value = other; order = itsOrder; }
  }

  DEVICE void ofWarp() {
#pragma unroll
    for (int s = 1; s < 32; s <<= 1) {
      const float other = __shfl_xor_sync(ALL_LANES, value, s);
      const int itsOrder = __shfl_xor_sync(ALL_LANES, order, s);
      take(other, itsOrder);
    }
  }
};

constexpr int NOBODY = 0x7fffffff;

// Finds the `wanted` smallest of up to eight numbers per lane. Number n of a lane has order 64 * (n / 2) + lane + 32 * (n %
// 2).
DEVICE void smallest(float (&numbers)[2 * MOST_BEAM], int wanted, Least (&found)[MOST_BEAM]) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int rank = 0; rank < MOST_BEAM; rank++) {
    found[rank] = Least{__int_as_float(0x7f800000), NOBODY};
    if (rank < wanted) {
#pragma unroll
      for (int n = 0; n < 2 * MOST_BEAM; n++) found[rank].take(numbers[n], 64 * (n / 2) + lane + 32 * (n % 2));
      found[rank].ofWarp();
#pragma unroll
      for (int n = 0; n < 2 * MOST_BEAM; n++) {
        if (found[rank].order == 64 * (n / 2) + lane + 32 * (n % 2)) numbers[n] = __int_as_float(0x7fc00000);   // NaN
      }
    }
  }
}

// Extends the beam of one token by a stage; one warp per token. Centroids are ordered by error + |centroid|^2 - 2 f[a] - 2
// h[b]. The best `after` of them are among the `after` rows a with the smallest minimum over b.
// rows: of the stage, in global memory
DEVICE void searchToken(const SearchMemory& m, const Beams& now, const Beams& next, const CodedVectors& v, const Search& s,
                        const float* rows, int token, int stage, int before, int after) {
  const int lane = threadIdx.x % 32, first = token * s.beam;
  const float infinity = __int_as_float(0x7f800000);
  float numbers[2 * MOST_BEAM];
#pragma unroll
  for (int beam = 0; beam < MOST_BEAM; beam++) {
    numbers[2 * beam] = numbers[2 * beam + 1] = infinity;
    if (beam < before) {
      const float* products = m.products + (first + beam) * STAGE_ROWS;
      float least0 = infinity, least1 = infinity;
#pragma unroll 4
      for (int b = 0; b < CODEBOOK_ROWS; b++) {
        const float twice = 2.f * products[CODEBOOK_ROWS + b];
        least0 = fminf(least0, __fsub_rn(m.squares[b * CODEBOOK_ROWS + lane], twice));
        least1 = fminf(least1, __fsub_rn(m.squares[b * CODEBOOK_ROWS + lane + 32], twice));
      }
      const float error = now.errors[first + beam];
      numbers[2 * beam] = __fadd_rn(least0, __fsub_rn(error, 2.f * products[lane]));
      numbers[2 * beam + 1] = __fadd_rn(least1, __fsub_rn(error, 2.f * products[lane + 32]));
    }
  }
  Least chosen[MOST_BEAM], centres[MOST_BEAM];
  smallest(numbers, after, chosen);
#pragma unroll
  for (int rank = 0; rank < MOST_BEAM; rank++) {
    numbers[2 * rank] = numbers[2 * rank + 1] = infinity;
    if (rank < after && chosen[rank].order != NOBODY) {
      const int a = chosen[rank].order % 64, beam = chosen[rank].order / 64;
      const float* products = m.products + (first + beam) * STAGE_ROWS;
      const float shift = __fsub_rn(now.errors[first + beam], 2.f * products[a]);
      const float* squares = m.squares + a;
      const float* second = products + CODEBOOK_ROWS;
      numbers[2 * rank] = __fadd_rn(__fsub_rn(squares[lane * CODEBOOK_ROWS], 2.f * second[lane]), shift);
      numbers[2 * rank + 1] = __fadd_rn(__fsub_rn(squares[(lane + 32) * CODEBOOK_ROWS], 2.f * second[lane + 32]), shift);
    }
  }
  smallest(numbers, after, centres);
#pragma unroll
  for (int rank = 0; rank < MOST_BEAM; rank++) {
    if (rank < after) {
      const int b = centres[rank].order % 64, rowRank = centres[rank].order / 64 % MOST_BEAM;   // arbitrary if all are NaN
      int row = 0;
#pragma unroll
      for (int r = 0; r < MOST_BEAM; r++) row = r == rowRank ? chosen[r].order : row;
      const int a = row % 64, from = first + row / 64 % MOST_BEAM % s.beam, to = first + rank;
      const float* firstRow = rows + (size_t)a * v.length;
      const float* secondRow = rows + (size_t)(CODEBOOK_ROWS + b) * v.length;
      for (int i = lane; i < v.length; i += 32) {
        next.residuals[to * m.stride + i] =
            __fsub_rn(__fsub_rn(now.residuals[from * m.stride + i], __ldg(firstRow + i)), __ldg(secondRow + i));
      }
      for (int i = lane; i < stage; i += 32) next.codes[to * v.stages + i] = now.codes[from * v.stages + i];
      if (lane == 0) {
        next.codes[to * v.stages + stage] = (u16)(a | b << INDEX_BITS);
        next.errors[to] = centres[rank].value;
      }
    }
  }
}

// Multiplies a vector with the sum of the rows that its codes name, and squares that sum; one warp per vector.
DEVICE double2 fitOf(const CodedVectors& v, const float* table, const float* vector, const u16* codes) {
  double product = 0, square = 0;
  for (int i = threadIdx.x % 32; i < v.length; i += 32) {
    float sum = 0.f;
    for (int stage = 0; stage < v.stages; stage++) {
      const float* rows = table + (size_t)stage * STAGE_ROWS * v.length + i;
      const u32 code = codes[stage];
      sum = __fadd_rn(sum, __fadd_rn(rows[(size_t)(code & 63) * v.length],
                                     rows[(size_t)(CODEBOOK_ROWS + (code >> INDEX_BITS & 63)) * v.length]));
    }
    product = fma((double)vector[i], (double)sum, product);
    square = fma((double)sum, (double)sum, square);
  }
#pragma unroll
  for (int s = 1; s < 32; s <<= 1) {
    product += __shfl_xor_sync(ALL_LANES, product, s);
    square += __shfl_xor_sync(ALL_LANES, square, s);
  }
  return double2{product, square};
}

// grid (128 / tokens, vectors of a token, layers), 256 threads, SearchMemory of dynamic shared memory
DEVICE void searchCodes(const CodedVectors& v, const Search& s) {
  letNextBegin();
  awaitPrevious();
  const SearchMemory m(v, s);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, threads = 32 * SEARCH_WARPS;
  const float* table = v.table(blockIdx.z, blockIdx.y);
  const size_t firstVector = v.vector(blockIdx.z, blockIdx.y, blockIdx.x * s.tokens);
  for (int token = 0; token < s.tokens; token++) {
    for (int i = threadIdx.x; i < v.length; i += threads) {
      m.beams[0].residuals[token * s.beam * m.stride + i] = v.vectors[(firstVector + token) * v.length + i];
    }
  }
  for (int i = threadIdx.x; i < s.tokens * s.beam; i += threads) m.beams[0].errors[i] = 0.f;
  const int quarters = v.length / 4;   // of a row, four floats each
#pragma unroll 1
  for (int stage = 0; stage < v.stages; stage++) {
    const float* rows = table + (size_t)stage * STAGE_ROWS * v.length;
    const float4* squares =
        reinterpret_cast<const float4*>(table + (size_t)v.stages * STAGE_ROWS * v.length + stage * STAGE_SQUARES);
    const int before = stage == 0 ? 1 : s.beam, after = stage == v.stages - 1 ? 1 : s.beam;
    const Beams& now = m.beams[stage % 2];
    for (int i = threadIdx.x; i < STAGE_SQUARES / 4; i += threads) reinterpret_cast<float4*>(m.squares)[i] = squares[i];
#pragma unroll 1
    for (int first = 0; first < STAGE_ROWS; first += s.rows) {
      if (first > 0) __syncthreads();
      for (int i = threadIdx.x; i < s.rows * quarters; i += threads) {
        reinterpret_cast<float4*>(m.rows + i / quarters * m.stride)[i % quarters] =
            reinterpret_cast<const float4*>(rows + (size_t)first * v.length)[i];
      }
      __syncthreads();
      if (s.tokens * before / 2 * s.rows / 8 * (HOST_SUMS / 4) >= threads) {
        multiplyRows<8>(m, now.residuals, v, s, before, first);
      } else {
        multiplyRows<2>(m, now.residuals, v, s, before, first);
      }
    }
    __syncthreads();
#pragma unroll 1
    for (int token = warp; token < s.tokens; token += SEARCH_WARPS) {
      searchToken(m, now, m.beams[(stage + 1) % 2], v, s, rows, token, stage, before, after);
    }
    __syncthreads();
  }
  const Beams& found = m.beams[v.stages % 2];
#pragma unroll 1
  for (int token = warp; token < s.tokens; token += SEARCH_WARPS) {
    const u16* codes = found.codes + token * s.beam * v.stages;
    const double2 fit = fitOf(v, table, v.vectors + (firstVector + token) * v.length, codes);
    if (lane == 0) v.fits[firstVector + token] = fit;
    for (int stage = lane; stage < v.stages; stage += 32) v.codes[(firstVector + token) * v.stages + stage] = codes[stage];
  }
}
