// The row operations of a decoder between its products, one block per row. Activations for products with quantized weights
// are signed bytes with a scale for 32 of them. They are rounded like dev.kvasir.kernel.QuantizedActivations, so that
// products are the same integer sums as on the host.
#pragma once
#include "pages.cuh"
#include "weights.cuh"

constexpr int ROW_THREADS = 1024;
constexpr int PART_THREADS = 256;   // of kernels without a sum over a row
constexpr int PART_COLUMNS = 1024;

// Quantizes a warp's 32 numbers, one group of a row. A group of zeros has scale zero; a group with a number that is not
// finite has scale NaN.
DEVICE void codeGroup(float x, const CodedRows& to, int row, int group, int groups) {
  float largest = fabsf(x);
#pragma unroll
  for (int s = 1; s < 32; s <<= 1) largest = fmaxf(largest, __shfl_xor_sync(ALL_LANES, largest, s));
  const bool finite = __all_sync(ALL_LANES, isfinite(x));
  const bool coded = finite && largest >= 1e-36f;
  const int lane = threadIdx.x % 32;
  const size_t place = ((size_t)(row / 8) * groups + group) * 8 + row % 8;
  const int code = coded ? (int)__fadd_rn(__fmul_rn(x, __fdiv_rn(127.f, largest)), 128.5f) - 128 : 0;
  to.codes[place * 32 + lane % 16 / 4 * 8 + lane / 16 * 4 + lane % 4] = (signed char)code;
  const int sum = __reduce_add_sync(ALL_LANES, code);
  if (lane == 0) {
    const float scale = coded ? __fdiv_rn(largest, 127.f) : finite ? 0.f : __int_as_float(0x7fffffff);
    to.scales[place] = scale;
    to.sums[place] = scale * sum;
  }
  if (to.halves != nullptr) {
    to.halves[place * 32 + lane % 8 / 2 * 8 + lane / 16 * 4 + lane % 16 / 8 * 2 + lane % 2] = toHalf(x);
  }
}

// Returns the sum over all threads of a block to each of them.
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

// Returns one over the root mean square of a row.
DEVICE float rootMeanSquareFactor(const float* x, int columns, float epsilon) {
  float squares = 0.f;
#pragma unroll 4
  for (int i = threadIdx.x; i < columns; i += ROW_THREADS) squares = fmaf(x[i], x[i], squares);
  return 1.f / sqrtf(sumOfBlock(squares) / columns + epsilon);
}

// grid (rows)
template <class KIND> DEVICE void embedRow(const Weights& embedding, const u32* tokens, int hidden, float* x, float scale) {
  letNextBegin();
  awaitPrevious();
  const int token = tokens[blockIdx.x];
#pragma unroll 4
  for (int i = threadIdx.x; i < hidden; i += ROW_THREADS) {
    const size_t chunk = (size_t)(token / 16) * (hidden / 32) + i / 32;
    x[(size_t)blockIdx.x * hidden + i] = scale * KIND::at(embedding, chunk, token, i);
  }
}

// Fetches the weight of a norm of up to 32,768 columns, if there is one, into L2. It is constant, so the previous kernel may
// still run.
DEVICE void expectNorm(const float* weight, int columns) {
  const int at = threadIdx.x * 32;
  if (weight != nullptr && at < columns) expect(reinterpret_cast<const u8*>(weight + at));
}

constexpr int HELD_NUMBERS = 8192;   // of a row, in shared memory

// grid (rows), 1024 threads: x += update, if there is one, and its quantized norm, or x itself without a weight. rowOf selects
// rows, if given. Columns are a multiple of 32, so warps stay whole. Loops are not unrolled further than loads gain from: in a
// small step the code itself comes from memory.
DEVICE void addAndNormalize(float* x, const float* update, const float* weight, float epsilon, int hidden, const u32* rowOf,
                            const CodedRows& coded) {
  __shared__ float held[HELD_NUMBERS];   // a thread reads only what it has written itself
  letNextBegin();
  expectNorm(weight, hidden);
  awaitPrevious();
  const u32 to = blockIdx.x, from = rowOf == nullptr ? to : rowOf[to];
  float* row = x + (size_t)from * hidden;
  const float* added = update + (size_t)from * hidden;
  float squares = 0.f;
#pragma unroll 1
  for (int begin = threadIdx.x; begin < hidden; begin += 4 * ROW_THREADS) {
    float v[4];
#pragma unroll
    for (int k = 0; k < 4; k++) {   // all loads precede the stores, which may be to the same memory for all the compiler knows
      const int i = begin + k * ROW_THREADS;
      if (i < hidden) v[k] = update == nullptr ? row[i] : row[i] + added[i];
    }
#pragma unroll
    for (int k = 0; k < 4; k++) {
      const int i = begin + k * ROW_THREADS;
      if (i >= hidden) continue;
      if (update != nullptr) row[i] = v[k];
      if (i < HELD_NUMBERS) held[i] = v[k];
      squares = fmaf(v[k], v[k], squares);
    }
  }
  const float factor = weight == nullptr ? 1.f : 1.f / sqrtf(sumOfBlock(squares) / hidden + epsilon);
#pragma unroll 1
  for (int i = threadIdx.x; i < hidden; i += ROW_THREADS) {
    const float v = i < HELD_NUMBERS ? held[i] : row[i];
    codeGroup((weight == nullptr ? 1.f : weight[i]) * (v * factor), coded, to, i / 32, hidden / 32);
  }
}

// grid (rows): what a family does to the output of attention or of the feed-forward layer before it is added to the residual
// stream: a bias, a norm and a factor.
DEVICE void finishUpdate(float* update, const float* bias, const float* norm, float epsilon, float scale, int hidden) {
  letNextBegin();
  awaitPrevious();
  float* row = update + (size_t)blockIdx.x * hidden;
  if (bias != nullptr) {
#pragma unroll 4
    for (int i = threadIdx.x; i < hidden; i += ROW_THREADS) row[i] += bias[i];
    // Below, a thread reads only what it has written itself.
  }
  const float factor = norm != nullptr ? rootMeanSquareFactor(row, hidden, epsilon) : 1.f;
#pragma unroll 4
  for (int i = threadIdx.x; i < hidden; i += ROW_THREADS) {
    row[i] = scale * (norm != nullptr ? norm[i] * (row[i] * factor) : row[i]);
  }
}

// The norms of all queries and of all keys of a row, in families that normalize these together instead of by head.
struct AllHeadsNorm {
  float* projected;           // (rows, stride): queries, keys, values
  const float* queryWeight;   // (queries)
  const float* keyWeight;     // (keys)
  u32 queries, keys;          // numbers of a row
  u32 stride;
  float epsilon;
};

// grid (rows, 2), 1024 threads: queries and keys
DEVICE void normalizeAllHeads(const AllHeadsNorm& n) {
  letNextBegin();
  awaitPrevious();
  const bool isKey = blockIdx.y == 1;
  float* x = n.projected + (size_t)blockIdx.x * n.stride + (isKey ? n.queries : 0);
  const float* weight = isKey ? n.keyWeight : n.queryWeight;
  const int count = isKey ? n.keys : n.queries;
  const float factor = rootMeanSquareFactor(x, count, n.epsilon);
#pragma unroll 4
  for (int i = threadIdx.x; i < count; i += ROW_THREADS) x[i] = weight[i] * (x[i] * factor);
}

// grid (rows, vocabulary / 1024), 256 threads: scales logits and bounds them by a soft cap, if it is above 0.
DEVICE void capLogits(float* logits, int vocabulary, float scale, float cap) {
  letNextBegin();
  awaitPrevious();
  float* row = logits + (size_t)blockIdx.x * vocabulary;
  const int begin = blockIdx.y * PART_COLUMNS, end = min(begin + PART_COLUMNS, vocabulary);
#pragma unroll 4
  for (int i = begin + threadIdx.x; i < end; i += PART_THREADS) {
    const float x = scale * row[i];
    row[i] = softCap(x, cap);
  }
}

// Activations of gates.
struct Silu {
  DEVICE static float of(float x) { return x / (1.f + expf(-x)); }
};

// The tanh approximation, with the constants of dev.kvasir.kernel.Gelu.
struct Gelu {
  DEVICE static float of(float x) { return x / (1.f + expf(x * fmaf(x * x, -0.07135481627f, -1.5957691216f))); }
};

// grid (rows, blocks that share a row), 256 threads: quantizes the activated gate times up; both are in one row, gate first.
template <class GATE> DEVICE void activatePart(const float* gateAndUp, int columns, CodedRows coded) {
  letNextBegin();
  awaitPrevious();
  const float* gate = gateAndUp + (size_t)blockIdx.x * 2 * columns;
#pragma unroll 1
  for (int i = blockIdx.y * PART_THREADS + threadIdx.x; i < columns; i += gridDim.y * PART_THREADS) {
    const float x = GATE::of(gate[i]) * gate[columns + i];
    codeGroup(x, coded, blockIdx.x, i / 32, columns / 32);
  }
}

// Same grid: quantizes halves.
DEVICE void codePart(const u16* x, int columns, CodedRows coded) {
  letNextBegin();
  awaitPrevious();
#pragma unroll 1
  for (int i = blockIdx.y * PART_THREADS + threadIdx.x; i < columns; i += gridDim.y * PART_THREADS) {
    codeGroup(toFloat(x[(size_t)blockIdx.x * columns + i]), coded, blockIdx.x, i / 32, columns / 32);
  }
}

// The arguments that turn a row's projections into queries, keys and values.
struct Turning {
  const float* projected;    // (rows, query heads + 2 * KV heads, D)
  const float* bias;         // (query heads + 2 * KV heads, D), or null
  const float* queryNorm;    // (D), or null if heads are not normalized
  const float* keyNorm;      // (D)
  const float2* angles;      // (rows, pairs) cosines and sines of the rows' positions
  const u32* positions;      // (rows)
  const PageEntry* places;   // (rows), slots of the first layer
  u64 layerOffset;
  u16* queries;              // (rows, query heads, D)
  u32 queryHeads, kvHeads;
  u32 pairs;                 // of rotary channels
  u32 neighbours;            // whether pairs are adjacent channels, or half of the rotary channels apart
  float epsilon;             // of the norms of heads
  float queryScale;          // factor of queries
  float rotaryScale;         // factor of the rotary channels of queries
  float temperature;         // queries are scaled by 1 + temperature * ln(1 + position / temperatureLength); 0 for none
  u32 temperatureLength;

  DEVICE float queryFactor(u32 position) const {
    return temperature == 0.f ? queryScale : queryScale * (1.f + temperature * logf(1.f + (float)(position / temperatureLength)));
  }
};

// Returns one over the root mean square of a head; each of D / 2 threads has two channels.
template <int D> DEVICE float headFactor(float a, float b, float epsilon) {
  __shared__ float squares[D / 2];   // with 96 channels half a warp is empty: no shuffles
  __syncthreads();                   // those of the head before have been read
  squares[threadIdx.x] = a * a + b * b;
  __syncthreads();
  float sum = 0.f;
#pragma unroll 8
  for (int i = 0; i < D / 2; i++) sum += squares[i];
  return 1.f / sqrtf(sum / D + epsilon);
}

// Adds biases to a head of a row, applies RoPE, and writes queries as halves and keys and values to their pages.
template <int D> DEVICE void turnHead(const Turning& t, int row, int head, int first, int second, float cosine, float sine) {
  const int heads = t.queryHeads + 2 * t.kvHeads;
  const bool turns = head < t.queryHeads + t.kvHeads && threadIdx.x < t.pairs;
  const float* from = t.projected + ((size_t)row * heads + head) * D;
  float a = from[first], b = from[second];
  if (t.bias != nullptr) {
    a += t.bias[head * D + first];
    b += t.bias[head * D + second];
  }
  const float* norm = head < t.queryHeads ? t.queryNorm : head < t.queryHeads + t.kvHeads ? t.keyNorm : nullptr;
  if (norm != nullptr) {
    const float factor = headFactor<D>(a, b, t.epsilon);
    a = norm[first] * (a * factor);
    b = norm[second] * (b * factor);
  }
  if (turns) {
    const float turned = a * cosine - b * sine;
    b = b * cosine + a * sine;
    a = turned;
  }
  if (head < t.queryHeads) {
    const float factor = t.queryFactor(t.positions[row]) * (turns ? t.rotaryScale : 1.f);
    a *= factor;
    b *= factor;
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

// grid (rows), as many threads as pairs: the angles of a step, once for all layers, since cosines and sines in double precision
// take longer than what a layer does with them.
DEVICE void rotaryAngles(const float* frequencies, const u32* positions, float2* angles) {
  letNextBegin();
  awaitPrevious();
  const double angle = (double)__fmul_rn((float)positions[blockIdx.x], frequencies[threadIdx.x]);
  angles[blockIdx.x * blockDim.x + threadIdx.x] = float2{(float)cos(angle), (float)sin(angle)};
}

// grid (rows, blocks that share the heads of a row), D / 2 threads.
template <int D> DEVICE void turnRow(const Turning& t) {
  letNextBegin();
  awaitPrevious();
  const int row = blockIdx.x, pair = threadIdx.x;
  const bool beside = t.neighbours || pair >= t.pairs;   // channels that are not rotated are taken two by two
  const int first = beside ? 2 * pair : pair, second = beside ? 2 * pair + 1 : pair + t.pairs;
  float2 angle{1.f, 0.f};
  if (pair < t.pairs && blockIdx.y < t.queryHeads + t.kvHeads) angle = t.angles[row * t.pairs + pair];
#pragma unroll 1
  for (int head = blockIdx.y; head < t.queryHeads + 2 * t.kvHeads; head += gridDim.y) {
    turnHead<D>(t, row, head, first, second, angle.x, angle.y);
  }
}
