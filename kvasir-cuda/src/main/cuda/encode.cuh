// Quantizes fp16 pages to codebook indices with the same bits as the search on the host (dev.kvasir.codec.commvq). Float
// sums have as many partial sums as on the host, in its order, and its first choice wins a tie.
//
// There are three kernels for a block of 128 tokens, of all layers. The first rotates vectors back, subtracts their means
// and divides by their token's length. The second searches codes stage by stage, with a beam. The third writes the pages.
#pragma once
#include "commvq.cuh"

constexpr int BLOCK_TOKENS = 2 * PAGE_TOKENS;

// The search table of one side of a KV head, in floats: (STAGES) times 128 rows, first and second ones; (STAGES) times
// squared lengths of centroids (64 second, 64 first); the mean. Channels of keys are x of all pairs, then y.
template <int D, int STAGES> struct SearchTable {
  static constexpr int ROWS = 2 * CODEBOOK_ROWS;
  static constexpr int SQUARES_AT = STAGES * ROWS * D;
  static constexpr int MEAN_AT = SQUARES_AT + STAGES * CODEBOOK_ROWS * CODEBOOK_ROWS;
  static constexpr int FLOATS = MEAN_AT + D;
};

// CommvqPageQuantizer has the same fields in the same order.
struct Encoding {
  const Packing* packings;   // of the two pages
  const u64* position;       // of the first token, or null for a sequence's first packed position
  u64 halfStride, packedStride;
  const float* books;        // (layers, sides, KV heads) search tables
  const float2* places;      // (128, D / 2) cosines and sines of token indices in a block
  const float2* pageTurns;   // (pages, D / 2), of a page's first position
  const u16* order;          // (2, D / 2) channels of pairs
  float* vectors;            // (layers, sides, KV heads, 128, D)
  float* lengths;            // (layers, sides, 128)
  double2* fits;             // (layers, sides, KV heads, 128): dot product of a vector and its sum of rows, square of the sum
  u16* codes;                // (layers, sides, KV heads, 128, STAGES)
  u32 firstPosition, turnPages;
  u32 kvHeads;
  u32 beam;                  // beam width, up to 4
  u32 lanes;                 // partial sums of the host: 4, 8 or 16
  u32 unused;

  DEVICE u32 blockPosition() const { return position == nullptr ? firstPosition : (u32)*position; }

  DEVICE const float2* turnOfBlock(int pairs) const {
    return pageTurns + (size_t)min((blockPosition() - firstPosition) / PAGE_TOKENS, turnPages - 1) * pairs;
  }

  DEVICE size_t side(int layer, int which) const { return 2 * layer + which; }
};

// Rotates back; every product and sum is rounded separately, as in Java.
DEVICE float2 turnedBack(float2 x, float2 turn) {
  return float2{__fadd_rn(__fmul_rn(x.x, turn.x), __fmul_rn(x.y, turn.y)),
                __fsub_rn(__fmul_rn(x.y, turn.x), __fmul_rn(x.x, turn.y))};
}

// grid (128 tokens, layers, sides), D / 2 threads
template <int D, int STAGES> DEVICE void prepareVectors(const Encoding& e) {
  using Table = SearchTable<D, STAGES>;
  __shared__ float row[D];
  __shared__ float factor;
  letNextBegin();
  awaitPrevious();
  const int token = blockIdx.x, layer = blockIdx.y, which = blockIdx.z, i = threadIdx.x;
  const u8* page = reinterpret_cast<const u8*>(e.packings[token / PAGE_TOKENS].from) + layer * e.halfStride;
  float all = 0.f;   // squared length of all heads, thread 0 alone
  for (int head = 0; head < e.kvHeads; head++, page += HalfPage<D>::BYTES) {
    const size_t vector = (e.side(layer, which) * e.kvHeads + head) * BLOCK_TOKENS + token;
    const float* mean = e.books + (e.side(layer, which) * e.kvHeads + head) * Table::FLOATS + Table::MEAN_AT;
    const int within = token % PAGE_TOKENS;
    float2 x;
    int first, second;
    if (which == 0) {
      x.x = toFloat(*reinterpret_cast<const u16*>(page + HalfPage<D>::keyOffset(within, e.order[i])));
      x.y = toFloat(*reinterpret_cast<const u16*>(page + HalfPage<D>::keyOffset(within, e.order[D / 2 + i])));
      x = turnedBack(turnedBack(x, e.turnOfBlock(D / 2)[i]), e.places[token * (D / 2) + i]);
      first = i; second = D / 2 + i;
    } else {
      first = 2 * i; second = 2 * i + 1;
      x.x = toFloat(*reinterpret_cast<const u16*>(page + HalfPage<D>::valueOffset(within, first)));
      x.y = toFloat(*reinterpret_cast<const u16*>(page + HalfPage<D>::valueOffset(within, second)));
    }
    x.x = __fsub_rn(x.x, mean[first]);
    x.y = __fsub_rn(x.y, mean[second]);
    row[first] = x.x;
    row[second] = x.y;
    e.vectors[vector * D + first] = x.x;
    e.vectors[vector * D + second] = x.y;
    __syncthreads();
    if (i == 0) {
      double square = 0;
      for (int c = 0; c < D; c++) square = fma((double)row[c], (double)row[c], square);   // products of floats are exact
      all = __fadd_rn(all, (float)square);
    }
    __syncthreads();
  }
  if (i == 0) {
    const float length = (float)sqrt((double)all);
    e.lengths[e.side(layer, which) * BLOCK_TOKENS + token] = length;
    factor = length == 0.f ? 0.f : __fdiv_rn(1.f, length);
  }
  __syncthreads();
  for (int head = 0; head < e.kvHeads; head++) {
    float* x = e.vectors + ((e.side(layer, which) * e.kvHeads + head) * BLOCK_TOKENS + token) * D;
    // Each thread reads only what it has written itself.
    const int first = which == 0 ? i : 2 * i, second = which == 0 ? D / 2 + i : 2 * i + 1;
    x[first] = __fmul_rn(x[first], factor);
    x[second] = __fmul_rn(x[second], factor);
  }
}

constexpr int SEARCH_WARPS = 8;
constexpr int SEARCH_TOKENS = 16;   // per block
constexpr int MOST_BEAM = 4;

// The beam of each token after some stages; vectors are (tokens, beam).
template <int D, int STAGES> struct Beams {
  static constexpr int VECTORS = SEARCH_TOKENS * MOST_BEAM;
  static constexpr int STRIDE = D + 4;   // so that rows start in different banks
  float residuals[VECTORS][STRIDE];
  float errors[VECTORS];
  u16 codes[VECTORS][STAGES];
};

template <int D, int STAGES> struct SearchMemory {
  Beams<D, STAGES> beams[2];
  float rows[2 * CODEBOOK_ROWS][D + 4];
  float squares[CODEBOOK_ROWS][CODEBOOK_ROWS];                 // second, first
  float products[Beams<D, STAGES>::VECTORS][2 * CODEBOOK_ROWS];
};

// Multiplies residuals with rows, eight rows and two vectors per thread at a time. The host has `lanes` partial sums: the
// k-th number goes to sum k % lanes, and neighbouring sums are added pairwise.
template <int D, int STAGES> DEVICE void multiplyRows(SearchMemory<D, STAGES>& m, const Beams<D, STAGES>& now, const Encoding& e,
                                                      int before) {
  constexpr int GROUPS = 2 * CODEBOOK_ROWS / 8;   // rows g, g + 16, ...
  const int pairs = SEARCH_TOKENS * before / 2;
#pragma unroll 1
  for (int unit = threadIdx.x; unit < pairs * GROUPS; unit += blockDim.x) {
    const int group = unit % GROUPS;
    int vector[2];
#pragma unroll
    for (int v = 0; v < 2; v++) {
      const int index = 2 * (unit / GROUPS) + v;
      vector[v] = index / before * e.beam + index % before;
    }
    float total[2][8], one[2][8], two[2][8];
#pragma unroll 1
    for (int part = 0; part < e.lanes / 4; part++) {
      float4 sum[2][8];
#pragma unroll
      for (int v = 0; v < 2; v++) {
#pragma unroll
        for (int r = 0; r < 8; r++) sum[v][r] = float4{0.f, 0.f, 0.f, 0.f};
      }
#pragma unroll 2
      for (int k = 4 * part; k < D; k += e.lanes) {
        const float4 x[2] = {*reinterpret_cast<const float4*>(&now.residuals[vector[0]][k]),
                             *reinterpret_cast<const float4*>(&now.residuals[vector[1]][k])};
#pragma unroll
        for (int r = 0; r < 8; r++) {
          const float4 row = *reinterpret_cast<const float4*>(&m.rows[group + GROUPS * r][k]);
#pragma unroll
          for (int v = 0; v < 2; v++) {
            sum[v][r].x = fmaf(x[v].x, row.x, sum[v][r].x);
            sum[v][r].y = fmaf(x[v].y, row.y, sum[v][r].y);
            sum[v][r].z = fmaf(x[v].z, row.z, sum[v][r].z);
            sum[v][r].w = fmaf(x[v].w, row.w, sum[v][r].w);
          }
        }
      }
#pragma unroll
      for (int v = 0; v < 2; v++) {
#pragma unroll
        for (int r = 0; r < 8; r++) {
          const float4 s = sum[v][r];
          const float four = __fadd_rn(__fadd_rn(s.x, s.y), __fadd_rn(s.z, s.w));
          if (part % 2 == 0) {
            one[v][r] = four;
            total[v][r] = four;
          } else {
            const float eight = __fadd_rn(one[v][r], four);
            total[v][r] = part == 1 ? eight : __fadd_rn(two[v][r], eight);
            two[v][r] = eight;
          }
        }
      }
    }
#pragma unroll
    for (int v = 0; v < 2; v++) {
#pragma unroll
      for (int r = 0; r < 8; r++) m.products[vector[v]][group + GROUPS * r] = total[v][r];
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
template <int D, int STAGES>
DEVICE void searchToken(SearchMemory<D, STAGES>& m, const Beams<D, STAGES>& now, Beams<D, STAGES>& next, const Encoding& e,
                        int token, int stage, int before, int after) {
  const int lane = threadIdx.x % 32, first = token * e.beam;
  const float infinity = __int_as_float(0x7f800000);
  float numbers[2 * MOST_BEAM];
#pragma unroll
  for (int beam = 0; beam < MOST_BEAM; beam++) {
    numbers[2 * beam] = numbers[2 * beam + 1] = infinity;
    if (beam < before) {
      const float* products = m.products[first + beam];
      float least0 = infinity, least1 = infinity;
#pragma unroll 4
      for (int b = 0; b < CODEBOOK_ROWS; b++) {
        const float twice = 2.f * products[CODEBOOK_ROWS + b];
        least0 = fminf(least0, __fsub_rn(m.squares[b][lane], twice));
        least1 = fminf(least1, __fsub_rn(m.squares[b][lane + 32], twice));
      }
      const float error = now.errors[first + beam];
      numbers[2 * beam] = __fadd_rn(least0, __fsub_rn(error, 2.f * products[lane]));
      numbers[2 * beam + 1] = __fadd_rn(least1, __fsub_rn(error, 2.f * products[lane + 32]));
    }
  }
  Least rows[MOST_BEAM], centres[MOST_BEAM];
  smallest(numbers, after, rows);
#pragma unroll
  for (int rank = 0; rank < MOST_BEAM; rank++) {
    numbers[2 * rank] = numbers[2 * rank + 1] = infinity;
    if (rank < after && rows[rank].order != NOBODY) {
      const int a = rows[rank].order % 64, beam = rows[rank].order / 64;
      const float* products = m.products[first + beam];
      const float shift = __fsub_rn(now.errors[first + beam], 2.f * products[a]);
      numbers[2 * rank] = __fadd_rn(__fsub_rn(m.squares[lane][a], 2.f * products[CODEBOOK_ROWS + lane]), shift);
      numbers[2 * rank + 1] = __fadd_rn(__fsub_rn(m.squares[lane + 32][a], 2.f * products[CODEBOOK_ROWS + lane + 32]), shift);
    }
  }
  smallest(numbers, after, centres);
#pragma unroll
  for (int rank = 0; rank < MOST_BEAM; rank++) {
    if (rank < after) {
      const int b = centres[rank].order % 64, rowRank = centres[rank].order / 64 % MOST_BEAM;   // arbitrary if all are NaN
      int row = 0;
#pragma unroll
      for (int r = 0; r < MOST_BEAM; r++) row = r == rowRank ? rows[r].order : row;
      const int a = row % 64, from = first + row / 64 % MOST_BEAM, to = first + rank;
      for (int i = lane; i < D; i += 32) {
        next.residuals[to][i] = __fsub_rn(__fsub_rn(now.residuals[from][i], m.rows[a][i]), m.rows[CODEBOOK_ROWS + b][i]);
      }
      for (int s = lane; s < stage; s += 32) next.codes[to][s] = now.codes[from][s];
      if (lane == 0) {
        next.codes[to][stage] = (u16)(a | b << INDEX_BITS);
        next.errors[to] = centres[rank].value;
      }
    }
  }
}

// grid (128 / 16 tokens, sides * KV heads, layers), 256 threads, SearchMemory of dynamic shared memory
template <int D, int STAGES> DEVICE void searchCodes(const Encoding& e) {
  using Table = SearchTable<D, STAGES>;
  SearchMemory<D, STAGES>& m = *reinterpret_cast<SearchMemory<D, STAGES>*>(dynamicMemory);
  letNextBegin();
  awaitPrevious();
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, threads = 32 * SEARCH_WARPS;
  const size_t head = (size_t)blockIdx.z * gridDim.y + blockIdx.y;   // (layers, sides, KV heads)
  const float* table = e.books + head * Table::FLOATS;
  const size_t firstVector = head * BLOCK_TOKENS + blockIdx.x * SEARCH_TOKENS;
  for (int i = threadIdx.x; i < SEARCH_TOKENS * D; i += threads) {
    m.beams[0].residuals[i / D * e.beam][i % D] = e.vectors[(firstVector + i / D) * D + i % D];
  }
  if (threadIdx.x < Beams<D, STAGES>::VECTORS) m.beams[0].errors[threadIdx.x] = 0.f;
#pragma unroll 1
  for (int stage = 0; stage < STAGES; stage++) {
    for (int i = threadIdx.x; i < Table::ROWS * D / 4; i += threads) {
      const float4 four = reinterpret_cast<const float4*>(table + stage * Table::ROWS * D)[i];
      *reinterpret_cast<float4*>(&m.rows[4 * i / D][4 * i % D]) = four;
    }
    for (int i = threadIdx.x; i < CODEBOOK_ROWS * CODEBOOK_ROWS / 4; i += threads) {
      reinterpret_cast<float4*>(m.squares)[i] =
          reinterpret_cast<const float4*>(table + Table::SQUARES_AT + stage * CODEBOOK_ROWS * CODEBOOK_ROWS)[i];
    }
    __syncthreads();
    const int before = stage == 0 ? 1 : e.beam, after = stage == STAGES - 1 ? 1 : e.beam;
    const Beams<D, STAGES>& now = m.beams[stage % 2];
    multiplyRows<D, STAGES>(m, now, e, before);
    __syncthreads();
#pragma unroll 1
    for (int token = warp; token < SEARCH_TOKENS; token += SEARCH_WARPS) {
      searchToken<D, STAGES>(m, now, m.beams[(stage + 1) % 2], e, token, stage, before, after);
    }
    __syncthreads();
  }
  const Beams<D, STAGES>& found = m.beams[STAGES % 2];
#pragma unroll 1
  for (int token = warp; token < SEARCH_TOKENS; token += SEARCH_WARPS) {
    const u16* codes = found.codes[token * e.beam];
    double product = 0, square = 0;
    for (int i = lane; i < D; i += 32) {
      float sum = 0.f;
      for (int stage = 0; stage < STAGES; stage++) {
        const float* rows = table + stage * Table::ROWS * D + i;
        const u32 code = codes[stage];
        sum = __fadd_rn(sum, __fadd_rn(rows[(code & 63) * D], rows[(CODEBOOK_ROWS + (code >> INDEX_BITS & 63)) * D]));
      }
      product = fma((double)e.vectors[(firstVector + token) * D + i], (double)sum, product);
      square = fma((double)sum, (double)sum, square);
    }
#pragma unroll
    for (int s = 1; s < 32; s <<= 1) {
      product += __shfl_xor_sync(ALL_LANES, product, s);
      square += __shfl_xor_sync(ALL_LANES, square, s);
    }
    if (lane == 0) e.fits[firstVector + token] = double2{product, square};
    for (int stage = lane; stage < STAGES; stage += 32) e.codes[(firstVector + token) * STAGES + stage] = codes[stage];
  }
}

// Returns the scale that fits a token's codes best, over all heads.
DEVICE u16 fittedScale(const Encoding& e, size_t side, int token) {
  double product = 0, square = 0;
  for (int head = 0; head < e.kvHeads; head++) {
    const double2 fit = e.fits[(side * e.kvHeads + head) * BLOCK_TOKENS + token];
    product += fit.x;
    square += fit.y;
  }
  const double scale = square == 0 ? 0 : e.lengths[side * BLOCK_TOKENS + token] * product / square;
  return toHalf((float)fmin(fmax(scale, 0.), 65504.));
}

// grid (2 pages, KV heads, layers), 256 threads
template <int D, int STAGES> DEVICE void writePage(const Encoding& e) {
  using Page = CommvqPage<STAGES>;
  letNextBegin();
  awaitPrevious();
  const int head = blockIdx.y, layer = blockIdx.z, before = PAGE_TOKENS * blockIdx.x;
  u8* page = reinterpret_cast<u8*>(e.packings[blockIdx.x].to) + layer * e.packedStride + (size_t)head * Page::BYTES;
  auto index = [&](int which, int token, int set) -> u32 {
    const size_t vector = (e.side(layer, which) * e.kvHeads + head) * BLOCK_TOKENS + before + token;
    return e.codes[vector * STAGES + set / 2] >> INDEX_BITS * (set % 2) & 63;
  };
  for (int i = threadIdx.x; i < Page::KEY_WORDS * PAGE_TOKENS; i += blockDim.x) {
    const int word = i / PAGE_TOKENS, token = i % PAGE_TOKENS;
    u32 bits = 0;
    for (int k = 0; k < 5; k++) {
      if (5 * word + k < Page::SETS) bits |= index(0, token, 5 * word + k) << INDEX_BITS * k;
    }
    if (word == Page::KEY_WORDS - 1) bits |= (u32)fittedScale(e, e.side(layer, 0), before + token) << 16;
    reinterpret_cast<u32*>(page)[i] = bits;
  }
  for (int i = threadIdx.x; i < 12 * Page::SETS; i += blockDim.x) {
    const int set = i % Page::SETS, word = i / Page::SETS;
    u32 bits = 0;
    for (int token = 0; token < TILE_TOKENS; token++) {
      const int shift = INDEX_BITS * token - 32 * (word % 3);
      if (shift > -INDEX_BITS && shift < 32) {
        const u32 its = index(1, word / 3 * TILE_TOKENS + token, set);
        bits |= shift < 0 ? its >> -shift : its << shift;
      }
    }
    reinterpret_cast<u32*>(page + Page::VALUE_AT)[i] = bits;
  }
  for (int token = threadIdx.x; token < PAGE_TOKENS; token += blockDim.x) {
    reinterpret_cast<u16*>(page + Page::VALUE_SCALES_AT)[token] = fittedScale(e, e.side(layer, 1), before + token);
  }
  if (threadIdx.x == 0) *reinterpret_cast<u32*>(page + Page::POSITION_AT) = e.blockPosition() + before;
}
