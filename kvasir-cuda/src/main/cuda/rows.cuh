// What a decoder does to rows between its products, one block for a row. Activations that go into products with coded
// weights are signed bytes with a scale for 32 of them, by the rule of dev.kvasir.kernel.CodedRows, so that products are the
// host's sums of integers.
#pragma once
#include "pages.cuh"

constexpr int ROW_THREADS = 256;
constexpr int CODE_GROUP = 32;

// A warp's 32 numbers as codes; a group of zeros has scale zero, and one with a number that is not finite none at all.
DEVICE void codeGroup(float x, signed char* codes, float* scale) {
  float largest = fabsf(x);
#pragma unroll
  for (int s = 1; s < 32; s <<= 1) largest = fmaxf(largest, __shfl_xor_sync(ALL_LANES, largest, s));
  const bool finite = __all_sync(ALL_LANES, isfinite(x));
  const bool coded = finite && largest >= 1e-36f;
  const int lane = threadIdx.x % 32;
  codes[lane] = coded ? (signed char)((int)__fadd_rn(__fmul_rn(x, __fdiv_rn(127.f, largest)), 128.5f) - 128) : 0;
  if (lane == 0) *scale = coded ? __fdiv_rn(largest, 127.f) : finite ? 0.f : __int_as_float(0x7fffffff);
}

// The sum over a block's threads, for all of them.
DEVICE float sumOfBlock(float x) {
  __shared__ float ofWarps[ROW_THREADS / 32];
#pragma unroll
  for (int s = 1; s < 32; s <<= 1) x += __shfl_xor_sync(ALL_LANES, x, s);
  if (threadIdx.x % 32 == 0) ofWarps[threadIdx.x / 32] = x;
  __syncthreads();
  float sum = 0.f;
#pragma unroll
  for (int w = 0; w < ROW_THREADS / 32; w++) sum += ofWarps[w];
  return sum;
}

// A row of the residual stream divided by its root mean square and weighed, as codes.
DEVICE void normalizeRow(const float* x, const float* weight, float epsilon, int columns, signed char* codes, float* scales) {
  float squares = 0.f;
  for (int i = threadIdx.x; i < columns; i += ROW_THREADS) squares = fmaf(x[i], x[i], squares);
  const float factor = 1.f / sqrtf(sumOfBlock(squares) / columns + epsilon);
  for (int i = threadIdx.x; i < columns; i += ROW_THREADS) {   // columns are a multiple of 32: warps stay whole
    codeGroup(weight[i] * (x[i] * factor), codes + i - i % 32, scales + i / 32);
  }
}

// Weights of 8 bits with a scale for 32 columns, in tiles of 16 rows by 32 columns, as an operand of the matrix units:
// codes (row tiles, groups, 32 lanes, 16), scales (row tiles, groups, 16). dev.kvasir.cuda.DeviceMatrix lays them out.
struct CodedWeights {
  const signed char* codes;
  const u16* scales;

  DEVICE float at(int row, int column, int columns) const {
    const size_t chunk = (size_t)(row / 16) * (columns / 32) + column / 32;
    const int lane = 4 * (row % 8) + column % 16 / 4, word = row % 16 / 8 + 2 * (column % 32 / 16);
    return toFloat(scales[chunk * 16 + row % 16]) * codes[chunk * 512 + 16 * lane + 4 * word + column % 4];
  }
};

// grid (rows)
DEVICE void embedRow(CodedWeights embedding, const u32* tokens, int hidden, float* x) {
  letNextBegin();
  awaitPrevious();
  const int token = tokens[blockIdx.x];
  for (int i = threadIdx.x; i < hidden; i += ROW_THREADS) {
    x[(size_t)blockIdx.x * hidden + i] = embedding.at(token, i, hidden);
  }
}

// grid (rows): x += update, where there is one, and its norm as codes. rowOf picks the rows, where it is given.
DEVICE void addAndNormalize(float* x, const float* update, const float* weight, float epsilon, int hidden, const u32* rowOf,
                            signed char* codes, float* scales) {
  letNextBegin();
  awaitPrevious();
  const u32 to = blockIdx.x, from = rowOf == nullptr ? to : rowOf[to];
  float* row = x + (size_t)from * hidden;
  if (update != nullptr) {
    for (int i = threadIdx.x; i < hidden; i += ROW_THREADS) row[i] += update[(size_t)from * hidden + i];
    // A thread reads below what it has written itself.
  }
  normalizeRow(row, weight, epsilon, hidden, codes + (size_t)to * hidden, scales + (size_t)to * (hidden / 32));
}

// grid (rows): silu(gate) * up as codes; both lie in one row, gate first.
DEVICE void activateRow(const float* gateAndUp, int columns, signed char* codes, float* scales) {
  letNextBegin();
  awaitPrevious();
  const float* gate = gateAndUp + (size_t)blockIdx.x * 2 * columns;
  const float* up = gate + columns;
  const size_t to = (size_t)blockIdx.x * columns;
  for (int i = threadIdx.x; i < columns; i += ROW_THREADS) {
    const float x = gate[i] / (1.f + expf(-gate[i])) * up[i];
    codeGroup(x, codes + to + i - i % 32, scales + (to + i) / 32);
  }
}

// grid (rows): halves as codes.
DEVICE void codeHalves(const u16* x, int columns, signed char* codes, float* scales) {
  letNextBegin();
  awaitPrevious();
  const size_t at = (size_t)blockIdx.x * columns;
  for (int i = threadIdx.x; i < columns; i += ROW_THREADS) {
    codeGroup(toFloat(x[at + i]), codes + at + i - i % 32, scales + (at + i) / 32);
  }
}

// What a row's queries, keys and values become before attention.
struct Turning {
  const float* projected;    // (rows, query heads + 2 * KV heads, D)
  const float* bias;         // (query heads + 2 * KV heads, D), or null
  const float* frequencies;  // (pairs)
  const u32* positions;      // (rows)
  const PageEntry* places;   // (rows), of the first layer
  u64 layerOffset;
  u16* queries;              // (rows, query heads, D)
  u32 queryHeads, kvHeads;
  u32 pairs;                 // of channels that turn
  u32 neighbours;            // whether a pair is two channels side by side, or half of the turning ones apart
};

// grid (rows, query heads + 2 * KV heads), D / 2 threads: biases, rotation by position, queries to halves, keys and values to
// their page.
template <int D> DEVICE void turnRow(const Turning& t) {
  letNextBegin();
  awaitPrevious();
  const int row = blockIdx.x, head = blockIdx.y, heads = gridDim.y, pair = threadIdx.x;
  const bool turns = head < t.queryHeads + t.kvHeads && pair < t.pairs;
  const bool beside = t.neighbours || pair >= t.pairs;   // channels that do not turn are taken two by two
  const int first = beside ? 2 * pair : pair, second = beside ? 2 * pair + 1 : pair + t.pairs;
  const float* from = t.projected + ((size_t)row * heads + head) * D;
  float a = from[first], b = from[second];
  if (t.bias != nullptr) {
    a += t.bias[head * D + first];
    b += t.bias[head * D + second];
  }
  if (turns) {
    const double angle = (double)__fmul_rn((float)t.positions[row], t.frequencies[pair]);
    const float cosine = (float)cos(angle), sine = (float)sin(angle);
    const float turned = a * cosine - b * sine;
    b = b * cosine + a * sine;
    a = turned;
  }
  if (head < t.queryHeads) {
    u16* query = t.queries + ((size_t)row * t.queryHeads + head) * D;
    query[first] = toHalf(a);
    query[second] = toHalf(b);
    return;
  }
  const PageEntry place = t.places[row];
  const bool isKey = head < t.queryHeads + t.kvHeads;
  const int kvHead = head - t.queryHeads - (isKey ? 0 : t.kvHeads), token = (int)(place & 63);
  u8* page = const_cast<u8*>(addressOf(place)) + t.layerOffset + (size_t)kvHead * HalfPage<D>::BYTES;
  using Page = HalfPage<D>;
  const int at0 = isKey ? Page::keyOffset(token, first) : Page::valueOffset(token, first);
  const int at1 = isKey ? Page::keyOffset(token, second) : Page::valueOffset(token, second);
  *reinterpret_cast<u16*>(page + at0) = toHalf(a);
  *reinterpret_cast<u16*>(page + at1) = toHalf(b);
}
