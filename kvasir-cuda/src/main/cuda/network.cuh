// Encodes values with a network (CommVQ's paper, Section 4.2), with the same bits as the host (dev.kvasir.codec.commvq):
// LayerNorm, Linear, GELU, Linear; the largest of four numbers chooses two bits. Sums have the host's order.
#pragma once
#include "search.cuh"
#include "store.cuh"

constexpr int MOST_BITS = 4096;   // of a token, and most channels of all its KV heads

// NetworkMemory has the same fields in the same order.
struct Network {
  const Packing* packings;       // of the two pages of a block
  u64 halfStride;
  const float* channelScales;    // (layers, width)
  const float* gain;             // (layers, width)
  const float* shift;            // (layers, width)
  const u16* codebook;           // (layers, bits, width)
  float* inputs;                 // (layers, 128, width): normalized values
  float* lengths;                // (layers, 128)
  const float* logits;           // (layers, 128, 2 * bits)
  u16* words;                    // (layers, 128, bits / 16)
  u16* scales;                   // (layers, 128)
  u32 kvHeads;
  u32 bits;                      // of a token, a multiple of 16

  static constexpr double EPSILON = (double)1e-6f;
};

// grid (128 tokens, layers), D threads: divides a token's values by channel scales, then LayerNorm
template <int D> DEVICE void normalizeValues(const Network& n) {
  __shared__ double divisor, mean, deviation;
  letNextBegin();
  awaitPrevious();
  const int token = blockIdx.x, layer = blockIdx.y, width = n.kvHeads * D;
  const u8* page = reinterpret_cast<const u8*>(n.packings[token / PAGE_TOKENS].from) + layer * n.halfStride;
  const float* channels = n.channelScales + (size_t)layer * width;
  float* out = n.inputs + ((size_t)layer * BLOCK_TOKENS + token) * width;
  for (int i = threadIdx.x; i < width; i += D) {
    const u8* own = page + (size_t)(i / D) * HalfPage<D>::BYTES + HalfPage<D>::valueOffset(token % PAGE_TOKENS, i % D);
    out[i] = __fdiv_rn(toFloat(*reinterpret_cast<const u16*>(own)), __fadd_rn(channels[i], 1e-6f));
  }
  __syncthreads();
  if (threadIdx.x == 0) {   // in the order of channels, as on the host
    double square = 0, sum = 0;
    for (int i = 0; i < width; i++) {
      const double u = out[i];
      square = fma(u, u, square);   // products of floats are exact
      sum += u;
    }
    const double length = sqrt(square);
    divisor = length + Network::EPSILON;
    mean = sum / divisor / width;
    double variance = 0;
    for (int i = 0; i < width; i++) {
      const double distance = __dsub_rn(out[i] / divisor, mean);
      variance = __dadd_rn(variance, __dmul_rn(distance, distance));
    }
    deviation = sqrt(variance / width + 1e-5);
    n.lengths[layer * BLOCK_TOKENS + token] = (float)length;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < width; i += D) {
    const float normalized = (float)(__dsub_rn(out[i] / divisor, mean) / deviation);
    out[i] = fmaf(normalized, n.gain[(size_t)layer * width + i], n.shift[(size_t)layer * width + i]);
  }
}

// e^x as on the host (dev.kvasir.kernel.Exponential).
DEVICE float hostExponential(float x) {
  const float v = fminf(fmaxf(x, -87.f), 88.f), rounder = 12582912.f;
  const float lifted = fmaf(v, 1.4426950409f, rounder), whole = __fsub_rn(lifted, rounder);
  const float r = fmaf(whole, 2.12194440e-4f, fmaf(whole, -0.693359375f, v));
  float p = fmaf(1.9875691500e-4f, r, 1.3981999507e-3f);
  p = fmaf(p, r, 8.3334519073e-3f);
  p = fmaf(p, r, 4.1665795894e-2f);
  p = fmaf(p, r, 1.6666665459e-1f);
  p = fmaf(p, r, 5.0000001201e-1f);
  p = __fadd_rn(fmaf(p, __fmul_rn(r, r), r), 1.f);
  return __int_as_float(__float_as_int(p) + (__float_as_int(lifted) << 23));
}

// GELU as on the host (dev.kvasir.codec.commvq.ExactGelu).
DEVICE float hostGelu(float x) {
  const float e = hostExponential(__fmul_rn(__fmul_rn(x, x), -0.5f));
  const float t = __fdiv_rn(1.f, fmaf(0.2316418882f, fabsf(x), 1.f));
  float p = fmaf(1.061405429f, t, -1.453152027f);
  p = fmaf(p, t, 1.421413741f);
  p = fmaf(p, t, -0.284496736f);
  p = fmaf(p, t, 0.254829592f);
  const float tail = __fmul_rn(__fmul_rn(__fmul_rn(p, t), e), 0.5f);
  return __fmul_rn(x, x < 0.f ? tail : __fsub_rn(1.f, tail));
}

// A product with a matrix of halves. NetworkProduct has the same fields in the same order.
struct HostProduct {
  const float* x;      // (layers, 128, columns)
  const u16* matrix;   // (layers, rows, columns)
  const float* bias;   // (layers, rows)
  float* out;          // (layers, 128, rows)
  u32 rows;            // a multiple of 32
  u32 columns;         // a multiple of 64
  u32 gelu;            // whether GELU follows
  u32 unused;
};

constexpr int HOST_TILE = 32;    // tokens and rows of a block
constexpr int HOST_DEPTH = 64;   // columns in shared memory

// grid (128 / 32 tokens, rows / 32, layers), 256 threads. Four threads share sixteen products, of 4 tokens and 4 rows; each
// has four of the host's partial sums.
DEVICE void multiplyAsHost(const HostProduct& h) {
  __shared__ float x[HOST_TILE][HOST_DEPTH + 4], matrix[HOST_TILE][HOST_DEPTH + 4];
  letNextBegin();
  awaitPrevious();
  const int layer = blockIdx.z, part = threadIdx.x % 4, unit = threadIdx.x / 4, token = unit % 8, row = unit / 8;
  const size_t firstToken = (size_t)layer * BLOCK_TOKENS + blockIdx.x * HOST_TILE;
  const size_t firstRow = (size_t)layer * h.rows + blockIdx.y * HOST_TILE;
  float4 sum[4][4];
#pragma unroll
  for (int t = 0; t < 4; t++) {
#pragma unroll
    for (int r = 0; r < 4; r++) sum[t][r] = float4{0.f, 0.f, 0.f, 0.f};
  }
#pragma unroll 1
  for (int first = 0; first < h.columns; first += HOST_DEPTH) {
    __syncthreads();
    for (int i = threadIdx.x; i < HOST_TILE * HOST_DEPTH; i += blockDim.x) {
      const int own = i / HOST_DEPTH, column = i % HOST_DEPTH;
      x[own][column] = h.x[(firstToken + own) * h.columns + first + column];
      matrix[own][column] = toFloat(h.matrix[(firstRow + own) * h.columns + first + column]);
    }
    __syncthreads();
#pragma unroll 1
    for (int k = 4 * part; k < HOST_DEPTH; k += HOST_SUMS) {
      float4 a[4], b[4];
#pragma unroll
      for (int i = 0; i < 4; i++) {
        a[i] = *reinterpret_cast<const float4*>(&x[token + 8 * i][k]);
        b[i] = *reinterpret_cast<const float4*>(&matrix[row + 8 * i][k]);
      }
#pragma unroll
      for (int t = 0; t < 4; t++) {
#pragma unroll
        for (int r = 0; r < 4; r++) {
          sum[t][r].x = fmaf(a[t].x, b[r].x, sum[t][r].x);
          sum[t][r].y = fmaf(a[t].y, b[r].y, sum[t][r].y);
          sum[t][r].z = fmaf(a[t].z, b[r].z, sum[t][r].z);
          sum[t][r].w = fmaf(a[t].w, b[r].w, sum[t][r].w);
        }
      }
    }
  }
#pragma unroll
  for (int t = 0; t < 4; t++) {
#pragma unroll
    for (int r = 0; r < 4; r++) {
      const float4 four = sum[t][r];
      float all = __fadd_rn(__fadd_rn(four.x, four.y), __fadd_rn(four.z, four.w));
      all = __fadd_rn(all, __shfl_xor_sync(ALL_LANES, all, 1));
      all = __fadd_rn(all, __shfl_xor_sync(ALL_LANES, all, 2));
      const float biased = __fadd_rn(all, h.bias[firstRow + row + 8 * r]);
      if (part == 0) {
        h.out[(firstToken + token + 8 * t) * h.rows + blockIdx.y * HOST_TILE + row + 8 * r] = h.gelu ? hostGelu(biased) : biased;
      }
    }
  }
}

// grid (128 tokens, layers), 256 threads: the bits of a token, and the scale that gives the sum of their rows its length
DEVICE void chooseBits(const Network& n, int width) {
  __shared__ u16 words[MOST_BITS / 16];
  __shared__ float sums[MOST_BITS];
  letNextBegin();
  awaitPrevious();
  const int token = blockIdx.x, layer = blockIdx.y;
  const size_t place = (size_t)layer * BLOCK_TOKENS + token;
  for (int word = threadIdx.x; word < n.bits / 16; word += blockDim.x) {
    u32 bits = 0;
    for (int pair = 0; pair < 8; pair++) {
      const float4 four = reinterpret_cast<const float4*>(n.logits + place * 2 * n.bits)[8 * word + pair];
      int choice = four.y > four.x ? 1 : 0;
      float most = choice ? four.y : four.x;
      if (four.z > most) { most = four.z; choice = 2; }
      if (four.w > most) choice = 3;
      const u32 two = choice == 0 ? 1u : choice == 1 ? 2u : choice == 2 ? 3u : 0u;   // 10, 01, 11 or 00, the first bit lowest
      bits |= two << 2 * pair;
    }
    words[word] = (u16)bits;
    n.words[place * (n.bits / 16) + word] = (u16)bits;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < width; i += blockDim.x) {
    const u16* rows = n.codebook + (size_t)layer * n.bits * width + i;
    float sum = 0.f;
    for (int bit = 0; bit < n.bits; bit++) {
      if (words[bit / 16] >> bit % 16 & 1) sum = __fadd_rn(sum, toFloat(rows[(size_t)bit * width]));
    }
    sums[i] = sum;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    double square = 0;
    for (int i = 0; i < width; i++) square = fma((double)sums[i], (double)sums[i], square);
    const double length = __fadd_rn(n.lengths[place], 1e-6f);
    const double scale = length / (sqrt(square) + Network::EPSILON);
    n.scales[place] = toHalf((float)fmin(scale, 65504.));
  }
}
