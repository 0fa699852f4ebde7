// Mixtures of experts. A pair is a row and one of its experts. Pairs are laid in tiles of eight rows, each of one expert, so that
// the products of a tile are those of products.cuh with the expert's weights.
//
//   route -> order -> gather -> multiply (gate and up) -> activate -> multiply (down) -> combine
//
// An expert's last tile may have unused rows. They are computed from whatever is in memory, and nothing reads them.
#pragma once
#include "products.cuh"

constexpr int MOST_EXPERTS = ROW_THREADS;
constexpr u32 NO_EXPERT = ~0u;
constexpr float LEAST_WEIGHT_SUM = 6.103515625e-5f;   // 2^-14, as in dev.kvasir.model.ExpertRouter

// The arguments of routing; dev.kvasir.cuda.kernels.ExpertKernels has the same fields in the same order, here and below.
struct Routed {
  const float* x;        // (rows, hidden), before the norm
  const float* norm;     // (hidden), or null
  const float* router;   // (experts, hidden)
  u32* chosen;           // (rows, used), the best first
  float* weights;        // (rows, used)
  float epsilon;
  float scale;           // of weights
  u32 hidden, experts, used;
  u32 softmax;           // whether weights are from the softmax over all experts, or over the chosen ones
  u32 normalized;        // whether weights are divided by their sum
};

// Returns the expert with the largest logit, the first of equals; `fallback` if no logit is a number.
DEVICE int bestExpert(const float* logits, int experts, int fallback) {
  const int lane = threadIdx.x % 32;
  float most = minusInfinity();
  int at = experts;
  for (int e = lane; e < experts; e += 32) {
    if (logits[e] > most) { most = logits[e]; at = e; }
  }
#pragma unroll
  for (int s = 1; s < 32; s <<= 1) {
    const float other = __shfl_xor_sync(ALL_LANES, most, s);
    const int its = __shfl_xor_sync(ALL_LANES, at, s);
    if (other > most || (other == most && its < at)) { most = other; at = its; }
  }
  return at < experts ? at : fallback;
}

// Chooses experts of a row by their logits, which are overwritten. One warp.
DEVICE void chooseExperts(const Routed& r, int row, float* logits) {
  const int lane = threadIdx.x % 32;
  const float most = logits[bestExpert(logits, r.experts, 0)];
  float all = 0.f;
  for (int e = lane; e < r.experts; e += 32) all += expf(logits[e] - most);
#pragma unroll
  for (int s = 1; s < 32; s <<= 1) all += __shfl_xor_sync(ALL_LANES, all, s);
  u32* chosen = r.chosen + (size_t)row * r.used;
  float* weights = r.weights + (size_t)row * r.used;
  float sum = 0.f;
  for (int k = 0; k < r.used; k++) {
    const int best = bestExpert(logits, r.experts, k);
    const float weight = expf(logits[best] - most) / (r.softmax ? all : 1.f);
    sum += weight;
    __syncwarp();   // all lanes have read the logit
    if (lane == 0) {
      chosen[k] = best;
      weights[k] = weight;
      logits[best] = minusInfinity();
    }
    __syncwarp();
  }
  if (lane == 0) {
    const float divisor = !r.softmax ? sum : r.normalized ? fmaxf(sum, LEAST_WEIGHT_SUM) : 1.f;
    for (int k = 0; k < r.used; k++) weights[k] = weights[k] / divisor * r.scale;
  }
}

// grid (rows), 1024 threads
DEVICE void routeExperts(const Routed& r) {
  __shared__ float logits[MOST_EXPERTS];
  letNextBegin();
  awaitPrevious();
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const float* x = r.x + (size_t)blockIdx.x * r.hidden;
  const float factor = r.norm != nullptr ? rootMeanSquareFactor(x, r.hidden, r.epsilon) : 1.f;
  for (int e = warp; e < r.experts; e += ROW_THREADS / 32) {
    const float* router = r.router + (size_t)e * r.hidden;
    float sum = 0.f;
#pragma unroll 4
    for (int i = lane; i < r.hidden; i += 32) {
      const float normed = r.norm != nullptr ? r.norm[i] * (x[i] * factor) : x[i];
      sum = fmaf(router[i], normed, sum);
    }
#pragma unroll
    for (int s = 1; s < 32; s <<= 1) sum += __shfl_xor_sync(ALL_LANES, sum, s);
    if (lane == 0) logits[e] = sum;
  }
  __syncthreads();
  if (warp == 0) chooseExperts(r, blockIdx.x, logits);
}

struct Ordering {
  const u32* chosen;   // (pairs)
  u32* places;         // (pairs), row in the tiles
  u32* tileExperts;    // (tiles), NO_EXPERT after the last one
  u32 pairs, experts, tiles;
};

// One block of 1024 threads. Thread e lays the pairs of expert e, in order.
DEVICE void orderPairs(const Ordering& o) {
  __shared__ u32 ends[MOST_EXPERTS];      // tiles of the experts up to this one
  __shared__ u32 chosen[ROW_THREADS];
  letNextBegin();
  awaitPrevious();
  const u32 expert = threadIdx.x;
  auto eachPair = [&](auto take) {
    for (u32 first = 0; first < o.pairs; first += ROW_THREADS) {
      const u32 count = min((u32)ROW_THREADS, o.pairs - first);
      __syncthreads();
      if (threadIdx.x < count) chosen[threadIdx.x] = o.chosen[first + threadIdx.x];
      __syncthreads();
      for (u32 i = 0; i < count; i++) {
        if (chosen[i] == expert) take(first + i);
      }
    }
  };
  u32 mine = 0;
  eachPair([&](u32) { mine++; });
  const u32 tiles = (mine + 7) / 8;
  ends[expert] = tiles;
  for (int s = 1; s < MOST_EXPERTS; s <<= 1) {
    __syncthreads();
    const u32 before = expert >= s ? ends[expert - s] : 0;
    __syncthreads();
    ends[expert] += before;
  }
  __syncthreads();
  const u32 firstTile = ends[expert] - tiles;
  u32 place = 8 * firstTile;
  eachPair([&](u32 pair) { o.places[pair] = place++; });
  for (u32 t = 0; t < tiles; t++) o.tileExperts[firstTile + t] = expert;
  for (u32 t = ends[MOST_EXPERTS - 1] + threadIdx.x; t < o.tiles; t += ROW_THREADS) o.tileExperts[t] = NO_EXPERT;
}

struct Gathering {
  CodedRows from, to;
  const u32* places;   // (pairs)
  u32 used;
  u32 groups;          // columns / 32
};

// grid (pairs), 256 threads: copies the activations of a row to the place of each of its pairs.
DEVICE void gatherRow(const Gathering& g) {
  letNextBegin();
  awaitPrevious();
  const u32 row = blockIdx.x / g.used, place = g.places[blockIdx.x];
  for (u32 i = threadIdx.x; i < 8 * g.groups; i += PART_THREADS) {   // words of codes
    const u32 group = i / 8, word = i % 8;
    const size_t from = ((size_t)(row / 8) * g.groups + group) * 8 + row % 8;
    const size_t to = ((size_t)(place / 8) * g.groups + group) * 8 + place % 8;
    reinterpret_cast<u32*>(g.to.codes)[8 * to + word] = reinterpret_cast<const u32*>(g.from.codes)[8 * from + word];
    if (word == 0) {
      g.to.scales[to] = g.from.scales[from];
      g.to.sums[to] = g.from.sums[from];
    }
    if (g.to.halves != nullptr && word < 4) {
      reinterpret_cast<uint4*>(g.to.halves)[4 * to + word] = reinterpret_cast<const uint4*>(g.from.halves)[4 * from + word];
    }
  }
}

struct ExpertProduct {
  const Weights* experts;   // their matrices
  const u32* tileExperts;   // (tiles)
  Product product;          // without weights
};

// grid (tiles, outputs / 16), 256 threads
template <class KIND> DEVICE void multiplyExperts(const ExpertProduct& e) {
  letNextBegin();
  awaitPrevious();   // experts are chosen just before, unlike the weights of other products
  const u32 expert = e.tileExperts[blockIdx.x];
  if (expert == NO_EXPERT) return;
  Product product = e.product;
  product.weights = e.experts[expert];
  multiply<KIND, 1, 1>(product);
}

struct Combining {
  const float* outputs;   // (places, hidden)
  const u32* places;      // (pairs)
  const float* weights;   // (pairs)
  float* update;          // (rows, hidden)
  u32 used, hidden;
};

// grid (rows, hidden / 1024), 256 threads: sums the outputs of a row's experts in the order of choice.
DEVICE void combineExperts(const Combining& c) {
  letNextBegin();
  awaitPrevious();
  const u32 first = blockIdx.x * c.used;
  const int begin = blockIdx.y * PART_COLUMNS, end = min(begin + PART_COLUMNS, (int)c.hidden);
  for (int i = begin + threadIdx.x; i < end; i += PART_THREADS) {
    float sum = 0.f;
    for (u32 k = 0; k < c.used; k++) {
      sum = fmaf(c.weights[first + k], c.outputs[(size_t)c.places[first + k] * c.hidden + i], sum);
    }
    c.update[(size_t)blockIdx.x * c.hidden + i] = sum;
  }
}
