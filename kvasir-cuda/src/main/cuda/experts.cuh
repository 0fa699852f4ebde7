// Mixtures of experts. A pair is a row and one of its experts. Pairs are laid in tiles of eight rows, each of one expert, so that
// the products of a tile are those of products.cuh with the expert's weights.
//
//   route -> order -> gather -> multiply (gate and up) -> activate -> multiply (down) -> combine
//
// A shared expert runs as a dense feed-forward layer; combine adds it.
//
// An expert's last tile may have unused rows. They are computed from whatever is in memory, and nothing reads them.
#pragma once
#include "products.cuh"

constexpr int MOST_EXPERTS = ROW_THREADS;
constexpr u32 NO_EXPERT = ~0u;
constexpr float LEAST_WEIGHT_SUM = 6.103515625e-5f;   // 2^-14, as in dev.kvasir.model.ExpertRouter

// What experts are chosen by.
enum Score : u32 {
  LOGITS = 0,     // weights are the softmax over the chosen ones
  SOFTMAX = 1,    // the softmax over all experts
  SIGMOID = 2
};

// The arguments of routing; dev.kvasir.cuda.kernels.ExpertKernels has the same fields in the same order, here and below.
struct Routed {
  const float* x;             // (rows, hidden), before the norm
  const float* norm;          // (hidden), or null
  const float* router;        // (experts, hidden), then the gate of the shared expert if it has one
  u32* chosen;                // (rows, used), the best first
  float* weights;             // (rows, used)
  const float* bias;          // (experts) of logits, or null
  const float* correction;    // (experts), added to scores for the choice alone, or null
  float* sharedWeights;       // (rows), or null if the shared expert has no gate
  float epsilon;
  float scale;                // of weights
  u32 hidden, experts, used;
  u32 score;                  // Score
  u32 normalized;             // whether weights are divided by their sum
  u32 groups, groupsUsed;     // experts are chosen in the best groups, which are consecutive experts
  u32 scoresPerGroup;         // 1 or 2 best scores, whose sum ranks a group
};

// Returns the index of the largest number, the first of equals; `fallback` if none is above minus infinity. One warp.
DEVICE int bestOf(const float* numbers, int count, int fallback) {
  const int lane = threadIdx.x % 32;
  float most = minusInfinity();
  int at = count;
  for (int i = lane; i < count; i += 32) {
    if (numbers[i] > most) { most = numbers[i]; at = i; }
  }
#pragma unroll
  for (int s = 1; s < 32; s <<= 1) {
    const float other = __shfl_xor_sync(ALL_LANES, most, s);
    const int its = __shfl_xor_sync(ALL_LANES, at, s);
    if (other > most || (other == most && its < at)) { most = other; at = its; }
  }
  return at < count ? at : fallback;
}

DEVICE float sigmoid(float x) { return 1.f / (1.f + expf(-x)); }

// Turns logits into scores. One warp.
DEVICE void scoreExperts(const Routed& r, float* logits) {
  const int lane = threadIdx.x % 32;
  if (r.score == SIGMOID) {
    for (int e = lane; e < r.experts; e += 32) logits[e] = sigmoid(logits[e]);
  } else if (r.score == SOFTMAX) {
    const float most = logits[bestOf(logits, r.experts, 0)];
    float all = 0.f;
    for (int e = lane; e < r.experts; e += 32) all += expf(logits[e] - most);
#pragma unroll
    for (int s = 1; s < 32; s <<= 1) all += __shfl_xor_sync(ALL_LANES, all, s);
    for (int e = lane; e < r.experts; e += 32) logits[e] = expf(logits[e] - most) / all;
  }
  __syncwarp();
}

// Excludes the experts of all but the best groups. One warp.
DEVICE void maskGroups(const Routed& r, float* candidates, float* groups) {
  if (r.groupsUsed == r.groups) return;
  const int lane = threadIdx.x % 32, size = r.experts / r.groups;
  for (int g = lane; g < r.groups; g += 32) {
    float first = minusInfinity(), second = minusInfinity();
    for (int e = g * size; e < (g + 1) * size; e++) {
      const float x = candidates[e];
      if (x > first) { second = first; first = x; }
      else if (x > second) second = x;
    }
    groups[g] = r.scoresPerGroup > 1 && size > 1 ? first + second : first;
  }
  __syncwarp();
  for (int k = 0; k < r.groupsUsed; k++) {
    const int best = bestOf(groups, r.groups, k);
    __syncwarp();   // all lanes have read the group
    if (lane == 0) groups[best] = __int_as_float(0x7fffffff);   // NaN: not chosen again
    __syncwarp();
  }
  for (int e = lane; e < r.experts; e += 32) {
    if (!isnan(groups[e / size])) candidates[e] = minusInfinity();
  }
  __syncwarp();
}

// Chooses experts of a row by their logits, which are overwritten. One warp.
DEVICE void chooseExperts(const Routed& r, int row, float* scores, float* candidates, float* groups) {
  const int lane = threadIdx.x % 32;
  scoreExperts(r, scores);
  for (int e = lane; e < r.experts; e += 32) {
    candidates[e] = r.correction != nullptr ? scores[e] + r.correction[e] : scores[e];
  }
  __syncwarp();
  maskGroups(r, candidates, groups);
  u32* chosen = r.chosen + (size_t)row * r.used;
  float* weights = r.weights + (size_t)row * r.used;
  float sum = 0.f, most = 0.f;
  for (int k = 0; k < r.used; k++) {
    const int best = bestOf(candidates, r.experts, k);
    if (r.score == LOGITS && k == 0) most = scores[best];
    const float weight = r.score == LOGITS ? expf(scores[best] - most) : scores[best];
    sum += weight;
    __syncwarp();   // all lanes have read the candidate
    if (lane == 0) {
      chosen[k] = best;
      weights[k] = weight;
      candidates[best] = minusInfinity();
    }
    __syncwarp();
  }
  if (lane == 0) {
    const float divisor = r.score == LOGITS ? sum : r.normalized ? fmaxf(sum, LEAST_WEIGHT_SUM) : 1.f;
    for (int k = 0; k < r.used; k++) weights[k] = weights[k] / divisor * r.scale;
  }
}

// grid (rows), 1024 threads
DEVICE void routeExperts(const Routed& r) {
  __shared__ float logits[MOST_EXPERTS + 1], candidates[MOST_EXPERTS], groups[MOST_EXPERTS];
  letNextBegin();
  awaitPrevious();
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const float* x = r.x + (size_t)blockIdx.x * r.hidden;
  const float factor = r.norm != nullptr ? rootMeanSquareFactor(x, r.hidden, r.epsilon) : 1.f;
  const u32 gates = r.experts + (r.sharedWeights != nullptr);
  for (int e = warp; e < gates; e += ROW_THREADS / 32) {
    const float* router = r.router + (size_t)e * r.hidden;
    float sum = 0.f;
#pragma unroll 4
    for (int i = lane; i < r.hidden; i += 32) {
      const float normed = r.norm != nullptr ? r.norm[i] * (x[i] * factor) : x[i];
      sum = fmaf(router[i], normed, sum);
    }
#pragma unroll
    for (int s = 1; s < 32; s <<= 1) sum += __shfl_xor_sync(ALL_LANES, sum, s);
    if (lane == 0) logits[e] = r.bias != nullptr && e < r.experts ? sum + r.bias[e] : sum;
  }
  __syncthreads();
  if (warp == 0) {
    if (r.sharedWeights != nullptr && lane == 0) r.sharedWeights[blockIdx.x] = sigmoid(logits[r.experts]);
    chooseExperts(r, blockIdx.x, logits, candidates, groups);
  }
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

struct BiasedExperts {
  const float* gateAndUp;   // (places, 2 * columns)
  const float* biases;      // (experts, 2 * columns)
  const u32* tileExperts;   // (tiles)
  CodedRows coded;
  u32 columns;
};

// grid (places, columns / 1024), 256 threads: like activatePart, with biases of gates and ups.
template <class GATE> DEVICE void activateExperts(const BiasedExperts& b) {
  letNextBegin();
  awaitPrevious();
  const u32 expert = b.tileExperts[blockIdx.x / 8];
  if (expert == NO_EXPERT) return;
  const int columns = b.columns;
  const float* gate = b.gateAndUp + (size_t)blockIdx.x * 2 * columns;
  const float* bias = b.biases + (size_t)expert * 2 * columns;
  const int begin = blockIdx.y * PART_COLUMNS, end = min(begin + PART_COLUMNS, columns);
#pragma unroll 4
  for (int i = begin + threadIdx.x; i < end; i += PART_THREADS) {
    const float x = GATE::of(gate[i] + bias[i], gate[columns + i] + bias[columns + i]);
    codeGroup(x, b.coded, blockIdx.x, i / 32, columns / 32);
  }
}

// As dev.kvasir.model.Activation.BOUNDED_SILU.
struct BoundedSilu {
  DEVICE static float of(float gate, float up) {
    const float g = fminf(gate, 7.f), u = fmaxf(-7.f, fminf(up, 7.f));
    return g / (1.f + expf(-1.702f * g)) * (u + 1.f);
  }
};

struct Combining {
  const float* outputs;         // (places, hidden)
  const u32* places;            // (pairs)
  const float* weights;         // (pairs)
  float* update;                // (rows, hidden)
  const float* shared;          // (rows, hidden) outputs of the shared expert, or null
  const float* sharedWeights;   // (rows), or null
  const float* biases;          // (experts, hidden) of outputs, or null
  const u32* chosen;            // (pairs)
  u32 used, hidden;
};

// grid (rows, hidden / 1024), 256 threads: sums the outputs of a row's experts in the order of choice, then the shared one.
DEVICE void combineExperts(const Combining& c) {
  letNextBegin();
  awaitPrevious();
  const u32 first = blockIdx.x * c.used;
  const size_t row = (size_t)blockIdx.x * c.hidden;
  const int begin = blockIdx.y * PART_COLUMNS, end = min(begin + PART_COLUMNS, (int)c.hidden);
  for (int i = begin + threadIdx.x; i < end; i += PART_THREADS) {
    float sum = 0.f;
    for (u32 k = 0; k < c.used; k++) {
      const float output = c.outputs[(size_t)c.places[first + k] * c.hidden + i];
      const float bias = c.biases != nullptr ? c.biases[(size_t)c.chosen[first + k] * c.hidden + i] : 0.f;
      sum = fmaf(c.weights[first + k], output + bias, sum);
    }
    if (c.shared != nullptr) {
      sum = fmaf(c.sharedWeights != nullptr ? c.sharedWeights[blockIdx.x] : 1.f, c.shared[row + i], sum);
    }
    c.update[row + i] = sum;
  }
}
