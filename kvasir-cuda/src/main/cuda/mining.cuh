// Mines the patterns of a sequence by k-means, with the same bits as dev.kvasir.kernel.KMeans: sums are made in its order.
// A block of threads clusters one side of one KV head of one layer. Vectors are read from the fp16 pages in each pass, a tile
// at a time, so that nothing of their size needs to be stored.
#pragma once
#include "patterns.cuh"
#include "residuals.cuh"

constexpr int MINED_THREADS = 256;
constexpr int MINED_VECTORS = 4096;    // most per head
constexpr int MINED_TILE = 64;         // vectors in shared memory
constexpr int MINED_CHUNK = 32;        // centroids in shared memory
constexpr int PARTIAL_SUMS = 16;       // of a dot product, as dev.kvasir.kernel.PartialSums

// PatternMiner fills it in. grid (KV heads, 2 sides, layers)
struct Mining {
  const u64* pages;       // fp16 pages of the first layer and KV head
  const double* draws;    // (patterns) random fractions of k-means++
  float* centroids;       // (layers, sides, KV heads, patterns, D)
  u64 halfStride, bankStride;
  u64 banks[MOST_BANKS];
  const u8* rotation;     // RotaryTables; null if key patterns do not rotate
  u32 turn;               // number of the first position in the table of angles
  u32 sides;              // that have patterns
  u32 samples, step;      // every step-th token is sampled
  u32 patterns;
  u32 first;              // sample that becomes the first centroid
  u32 rounds;             // most of them
  u32 unused;
};

// Channels in shared memory are ordered by partial sum, so that a thread reads what it adds to one of them at once.
template <int D> DEVICE int minedPlace(int channel) {
  return channel % PARTIAL_SUMS * (D / PARTIAL_SUMS) + channel / PARTIAL_SUMS;
}

template <int D> struct MiningMemory {
  static constexpr int STRIDE = D + 4;   // so that rows start in different banks
  float tile[MINED_TILE][STRIDE];
  union {
    float chunk[MINED_CHUNK][STRIDE];
    float squares[MINED_VECTORS];        // of vectors, while centroids are seeded
  };
  union {
    double sums[MINED_CHUNK][D];
    double distances[MINED_VECTORS];     // to the nearest centroid, while centroids are seeded
  };
  float found[MINED_TILE][MINED_CHUNK + 1];   // squared distances of a tile, without the squares of vectors
  float centroidSquares[MOST_PATTERNS];
  u8 nearest[MINED_VECTORS];
  int members[MINED_CHUNK];
  alignas(16) float row[D];              // a new centroid
  int chosen, changed;
};

// Adds partial sums FIRST to FIRST + COUNT - 1 of the products of VECTORS and CENTROIDS rows: neighbours are added until one
// is left.
template <int D, int FIRST, int COUNT, int VECTORS, int CENTROIDS> struct PartialProducts {
  DEVICE static void of(const float* const (&x)[VECTORS], const float* const (&m)[CENTROIDS], float (&out)[VECTORS * CENTROIDS]) {
    float high[VECTORS * CENTROIDS];
    PartialProducts<D, FIRST, COUNT / 2, VECTORS, CENTROIDS>::of(x, m, out);
    PartialProducts<D, FIRST + COUNT / 2, COUNT / 2, VECTORS, CENTROIDS>::of(x, m, high);
#pragma unroll
    for (int i = 0; i < VECTORS * CENTROIDS; i++) out[i] = __fadd_rn(out[i], high[i]);
  }
};

template <int D, int FIRST, int VECTORS, int CENTROIDS> struct PartialProducts<D, FIRST, 1, VECTORS, CENTROIDS> {
  DEVICE static void of(const float* const (&x)[VECTORS], const float* const (&m)[CENTROIDS], float (&out)[VECTORS * CENTROIDS]) {
    constexpr int TERMS = D / PARTIAL_SUMS;
#pragma unroll
    for (int i = 0; i < VECTORS * CENTROIDS; i++) out[i] = 0.f;
#pragma unroll
    for (int at = FIRST * TERMS; at < (FIRST + 1) * TERMS; at += 4) {
      float4 a[VECTORS], b[CENTROIDS];
#pragma unroll
      for (int v = 0; v < VECTORS; v++) a[v] = *reinterpret_cast<const float4*>(x[v] + at);
#pragma unroll
      for (int c = 0; c < CENTROIDS; c++) b[c] = *reinterpret_cast<const float4*>(m[c] + at);
#pragma unroll
      for (int v = 0; v < VECTORS; v++) {
#pragma unroll
        for (int c = 0; c < CENTROIDS; c++) {
          float& sum = out[v * CENTROIDS + c];
          sum = __fmaf_rn(a[v].x, b[c].x, sum);
          sum = __fmaf_rn(a[v].y, b[c].y, sum);
          sum = __fmaf_rn(a[v].z, b[c].z, sum);
          sum = __fmaf_rn(a[v].w, b[c].w, sum);
        }
      }
    }
  }
};

template <int D> struct KMeans {
  using Memory = MiningMemory<D>;
  static constexpr int COLUMNS = D / 2;
  const Mining& m;
  Memory& s;
  const BlockVectors<D> vectors;
  size_t halves;      // offset of this block's pages
  float* centroids;   // (patterns, D) in channel order
  int count;          // vectors

  DEVICE KMeans(const Mining& mining, Memory& memory)
      : m(mining), s(memory), vectors{{mining.rotation}, (int)blockIdx.y, mining.turn},
        halves(blockIdx.z * mining.halfStride + (size_t)blockIdx.x * HalfPage<D>::BYTES),
        centroids(mining.centroids +
                  (((size_t)blockIdx.z * 2 + blockIdx.y) * gridDim.x + blockIdx.x) * mining.patterns * D),
        count(mining.samples) {}

  // Returns two elements of a vector.
  DEVICE float2 two(int vector, int column) const {
    const u32 token = (u32)vector * m.step;
    const u8* page = reinterpret_cast<const u8*>(m.pages[token / PAGE_TOKENS]) + halves;
    BlockVectors<D> own = vectors;
    own.turn += token / ROTARY_BLOCK * (ROTARY_BLOCK / TURN_TOKENS);
    return own.two(page, token % ROTARY_BLOCK, column);
  }

  // Loads the vectors of a tile; barriers are before and after.
  DEVICE void loadTile(int tile) {
    __syncthreads();
#pragma unroll 2
    for (int i = threadIdx.x; i < MINED_TILE * COLUMNS; i += MINED_THREADS) {
      // Adjacent lanes read adjacent tokens of a value, or adjacent columns of a key.
      const int row = vectors.side == 0 ? i / COLUMNS : i % MINED_TILE, vector = tile * MINED_TILE + row;
      const int column = vectors.side == 0 ? i % COLUMNS : i / MINED_TILE;
      if (vector < count) {
        const float2 x = two(vector, column);
        const int2 to = vectors.channels(column);
        s.tile[row][minedPlace<D>(to.x)] = x.x;
        s.tile[row][minedPlace<D>(to.y)] = x.y;
      }
    }
    __syncthreads();
  }

  DEVICE int tiles() const { return (count + MINED_TILE - 1) / MINED_TILE; }

  // Returns the squared length of a row; products of floats are exact as doubles.
  DEVICE static float square(const float* row, bool placed) {
    double sum = 0;
#pragma unroll 8
    for (int c = 0; c < D; c++) {
      const double x = row[placed ? minedPlace<D>(c) : c];
      sum = __fma_rn(x, x, sum);
    }
    return (float)sum;
  }

  // Draws centroids from the vectors, weighted by the squared distance to those before.
  DEVICE void seed() {
    if (threadIdx.x == 0) s.chosen = (int)m.first;
    for (int tile = 0; tile < tiles(); tile++) {
      loadTile(tile);
      for (int row = threadIdx.x; row < MINED_TILE && tile * MINED_TILE + row < count; row += MINED_THREADS) {
        s.squares[tile * MINED_TILE + row] = square(s.tile[row], true);
        s.distances[tile * MINED_TILE + row] = __longlong_as_double(0x7ff0000000000000ll);
      }
    }
    __syncthreads();
    for (int centroid = 0; centroid < (int)m.patterns; centroid++) {
      const int chosen = s.chosen;
      for (int column = threadIdx.x; column < COLUMNS; column += MINED_THREADS) {
        const float2 x = two(chosen, column);
        const int2 to = vectors.channels(column);
        float* own = centroids + (size_t)centroid * D;
        own[to.x] = x.x;
        own[to.y] = x.y;
        s.row[minedPlace<D>(to.x)] = x.x;
        s.row[minedPlace<D>(to.y)] = x.y;
      }
      const float itsSquare = s.squares[chosen];
      if (threadIdx.x == 0) s.centroidSquares[centroid] = itsSquare;
      for (int tile = 0; tile < tiles(); tile++) {
        loadTile(tile);
        approach(tile, itsSquare);
      }
      __syncthreads();
      if (threadIdx.x == 0) s.chosen = draw(m.draws[centroid]);
      __syncthreads();
    }
  }

  // Updates the distances of a tile with a new centroid: four threads per vector, of four partial sums each.
  DEVICE void approach(int tile, float itsSquare) {
    const int row = threadIdx.x / 4, part = threadIdx.x % 4, vector = tile * MINED_TILE + row;
    constexpr int OWN = D / 4;   // channels of a thread
    const float* const x[1] = {s.tile[row] + part * OWN};
    const float* const c[1] = {s.row + part * OWN};
    float product[1];
    PartialProducts<D, 0, 4, 1, 1>::of(x, c, product);
    float sum = product[0];
    sum = __fadd_rn(sum, __shfl_xor_sync(ALL_LANES, sum, 1));
    sum = __fadd_rn(sum, __shfl_xor_sync(ALL_LANES, sum, 2));
    if (part == 0 && vector < count) {
      const double distance = __dadd_rn(__dsub_rn((double)s.squares[vector], 2.0 * sum), (double)itsSquare);
      s.distances[vector] = fmin(s.distances[vector], fmax(0.0, distance));
    }
  }

  // One thread: picks a vector by its share of all distances. Both sums are made one by one, as on the host.
  DEVICE int draw(double fraction) const {
    double sum = 0;
#pragma unroll 8
    for (int i = 0; i < count; i++) sum = __dadd_rn(sum, s.distances[i]);
    double left = __dmul_rn(fraction, sum);
#pragma unroll 8
    for (int i = 0; i < count; i++) {
      left = __dsub_rn(left, s.distances[i]);
      if (left < 0) return i;
    }
    return count - 1;
  }

  // Loads centroids from `first` on, up to a chunk.
  DEVICE void loadChunk(int first) {
    __syncthreads();
    const int some = min(MINED_CHUNK, (int)m.patterns - first);
    for (int i = threadIdx.x; i < some * D; i += MINED_THREADS) {
      s.chunk[i / D][minedPlace<D>(i % D)] = centroids[(size_t)first * D + i];
    }
    __syncthreads();
  }

  // Multiplies the tile with the chunk: a warp has 32 vectors and eight centroids, a thread four and two.
  DEVICE void multiply(int first) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int row = warp % 2 * 32 + lane / 4, column = warp / 2 * 8 + lane % 4;
    const float* const x[4] = {s.tile[row], s.tile[row + 8], s.tile[row + 16], s.tile[row + 24]};
    const float* const c[2] = {s.chunk[column], s.chunk[column + 4]};
    float products[8];
    PartialProducts<D, 0, PARTIAL_SUMS, 4, 2>::of(x, c, products);
#pragma unroll
    for (int v = 0; v < 4; v++) {
#pragma unroll
      for (int k = 0; k < 2; k++) {
        const int centroid = min(first + column + 4 * k, MOST_PATTERNS - 1);
        s.found[row + 8 * v][column + 4 * k] = __fsub_rn(s.centroidSquares[centroid], 2.f * products[2 * v + k]);
      }
    }
  }

  // Assigns each vector to its nearest centroid; the first of several wins. Sums are made at once if all centroids are in
  // the chunk.
  DEVICE bool assign() {
    const bool together = m.patterns <= MINED_CHUNK;
    __syncthreads();
    if (threadIdx.x == 0) s.changed = 0;
    if (together) clearSums();
    for (int tile = 0; tile < tiles(); tile++) {
      loadTile(tile);
      const int row = threadIdx.x / 4, part = threadIdx.x % 4, vector = tile * MINED_TILE + row;
      int best = 0;
      float least = -minusInfinity();
      for (int first = 0; first < (int)m.patterns; first += MINED_CHUNK) {
        if (!together || tile == 0) loadChunk(first);
        multiply(first);
        __syncthreads();
        const int some = min(MINED_CHUNK, (int)m.patterns - first);
        for (int c = part; c < some; c += 4) {
          const float distance = s.found[row][c];
          if (distance < least) {
            least = distance;
            best = first + c;
          }
        }
        __syncthreads();
      }
#pragma unroll
      for (int d = 1; d < 4; d <<= 1) {
        const float its = __shfl_xor_sync(ALL_LANES, least, d);
        const int other = __shfl_xor_sync(ALL_LANES, best, d);
        if (its < least || (its == least && other < best)) {
          least = its;
          best = other;
        }
      }
      if (part == 0 && vector < count) {
        if (s.nearest[vector] != best) s.changed = 1;
        s.nearest[vector] = (u8)best;
      }
      __syncthreads();
      if (together) addMembers(tile, 0);
    }
    __syncthreads();
    return s.changed != 0;
  }

  DEVICE void clearSums() {
    for (int i = threadIdx.x; i < MINED_CHUNK * D; i += MINED_THREADS) s.sums[i / D][i % D] = 0;
    if (threadIdx.x < MINED_CHUNK) s.members[threadIdx.x] = 0;
  }

  // Adds the vectors of a tile to the sums of their centroids, in order. A warp has every eighth centroid.
  DEVICE void addMembers(int tile, int first) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int end = min(MINED_TILE, count - tile * MINED_TILE), some = min(MINED_CHUNK, (int)m.patterns - first);
    for (int c = warp; c < some; c += MINED_THREADS / 32) {
      double sums[D / 32];
#pragma unroll
      for (int j = 0; j < D / 32; j++) sums[j] = s.sums[c][lane + 32 * j];
      int added = 0;
#pragma unroll
      for (int from = 0; from < MINED_TILE; from += 32) {
        const int row = from + lane;
        u32 members = __ballot_sync(ALL_LANES, row < end && s.nearest[tile * MINED_TILE + row] == first + c);
        added += __popc(members);
        while (members != 0) {
          const float* x = s.tile[from + __ffs(members) - 1];
          members &= members - 1;
#pragma unroll
          for (int j = 0; j < D / 32; j++) sums[j] = __dadd_rn(sums[j], (double)x[minedPlace<D>(lane + 32 * j)]);
        }
      }
#pragma unroll
      for (int j = 0; j < D / 32; j++) s.sums[c][lane + 32 * j] = sums[j];
      if (lane == 0) s.members[c] += added;
    }
  }

  // Moves each centroid to the mean of its vectors; one without any stays.
  DEVICE void update() {
    for (int first = 0; first < (int)m.patterns; first += MINED_CHUNK) {
      if (m.patterns > MINED_CHUNK) {
        __syncthreads();
        clearSums();
        for (int tile = 0; tile < tiles(); tile++) {
          loadTile(tile);
          addMembers(tile, first);
        }
      }
      __syncthreads();
      const int some = min(MINED_CHUNK, (int)m.patterns - first);
      for (int i = threadIdx.x; i < some * D; i += MINED_THREADS) {
        const int c = i / D;
        if (s.members[c] > 0) centroids[(size_t)first * D + i] = (float)__ddiv_rn(s.sums[c][i % D], (double)s.members[c]);
      }
      __syncthreads();
      if (threadIdx.x < some) {
        s.centroidSquares[first + threadIdx.x] = square(centroids + (size_t)(first + threadIdx.x) * D, false);
      }
    }
    __syncthreads();
  }

  // Writes the centroids to the bank pages as halves.
  DEVICE void store() const {
    const size_t offset = blockIdx.z * m.bankStride + (size_t)blockIdx.x * BankPage<D>::BYTES + blockIdx.y * BankPage<D>::SIDE_BYTES;
    for (int i = threadIdx.x; i < (int)m.patterns * COLUMNS; i += MINED_THREADS) {
      const int pattern = i / COLUMNS, column = i % COLUMNS;
      u16* row = reinterpret_cast<u16*>(reinterpret_cast<u8*>(m.banks[pattern / BANK_PATTERNS]) + offset) +
                 pattern % BANK_PATTERNS * D;
      const int2 from = vectors.channels(column), to = vectors.places(column);
      row[to.x] = toHalf(centroids[(size_t)pattern * D + from.x]);
      row[to.y] = toHalf(centroids[(size_t)pattern * D + from.y]);
    }
  }

  DEVICE void run() {
    seed();
    for (int i = threadIdx.x; i < MINED_VECTORS; i += MINED_THREADS) s.nearest[i] = NO_PATTERN;
    for (int round = 0; round < (int)m.rounds && assign(); round++) update();
    __syncthreads();
    store();
  }
};

// MINED_THREADS threads, MiningMemory<D> of dynamic shared memory.
template <int D> DEVICE void minePatterns(const Mining& m) {
  extern __shared__ __align__(128) u8 dynamicMemory[];
  letNextBegin();
  awaitPrevious();
  if (!hasPatterns(m.sides, blockIdx.y)) return;
  KMeans<D>(m, *reinterpret_cast<MiningMemory<D>*>(dynamicMemory)).run();
}
