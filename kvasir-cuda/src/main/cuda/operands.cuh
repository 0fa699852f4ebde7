// Activations as operands of products with weights in blocks: halves in the permuted order of blocks.cuh. The first rows of a
// step, if they are few, are in tiles of eight for gemv.cuh, the others row by row for gemm.cuh.
#pragma once
#include "blocks.cuh"
#include "rows.cuh"

struct BlockRows {
  u16* tiles;   // (few / 8, columns / 256, j / 2, row % 8, q, j % 2, h, e)
  u16* rows;    // (rows, columns / 256, j, h, q, e), without the first few
  u32 few;

  // Stores a pair of columns by its word among 128 of a block: 8j + 4h + q. Threads take words in order, so that what they
  // read is whole sectors and what they write is adjacent.
  DEVICE void store(int row, int block, int word, int columns, float first, float second) const {
    const u32 pair = toHalves(first, second);
    if (row < few) {
      const int j = word / 8, h = word / 4 % 2, q = word % 4;
      const size_t at = ((size_t)(row / 8) * (columns / BLOCK_COLUMNS) + block) * 8 * 128;
      reinterpret_cast<u32*>(tiles)[at + j / 2 * 128 + row % 8 * 16 + q * 4 + j % 2 * 2 + h] = pair;
    } else {
      reinterpret_cast<u32*>(rows)[(size_t)row * (columns / 2) + block * 128 + word] = pair;
    }
  }

  // Returns the first column of a word of a block.
  DEVICE static int columnOf(int word) { return 32 * (2 * (word % 4) + word / 4 % 2) + word / 8 * 2; }
};

constexpr int HELD_PAIRS = 4096;   // of a row, in shared memory

// grid (rows), 1024 threads: x += update, if there is one, and its norm as operands, or x itself without a weight. rowOf selects
// rows, if given. Threads take pairs in the order of the operands, so that each has what it stores.
DEVICE void normalizeToBlocks(float* x, const float* update, const float* weight, float epsilon, int hidden, const u32* rowOf,
                              const BlockRows& to) {
  __shared__ float2 held[HELD_PAIRS];   // a thread reads only what it has written itself
  letNextBegin();
  expectNorm(weight, hidden);
  auto pairOf = [](int i) { return (i / 128 * BLOCK_COLUMNS + BlockRows::columnOf(i % 128)) / 2; };
  awaitPrevious();
  const u32 row = blockIdx.x, from = rowOf == nullptr ? row : rowOf[row];
  float2* numbers = reinterpret_cast<float2*>(x + (size_t)from * hidden);
  const float2* added = reinterpret_cast<const float2*>(update + (size_t)from * hidden);
  float squares = 0.f;
#pragma unroll 1
  for (int begin = threadIdx.x; begin < hidden / 2; begin += 2 * ROW_THREADS) {
    float2 v[2];
#pragma unroll
    for (int k = 0; k < 2; k++) {   // all loads precede the stores, which may be to the same memory for all the compiler knows
      const int i = begin + k * ROW_THREADS;
      if (i >= hidden / 2) continue;
      v[k] = numbers[pairOf(i)];
      if (update != nullptr) {
        const float2 u = added[pairOf(i)];
        v[k].x += u.x;
        v[k].y += u.y;
      }
    }
#pragma unroll
    for (int k = 0; k < 2; k++) {
      const int i = begin + k * ROW_THREADS;
      if (i >= hidden / 2) continue;
      if (update != nullptr) numbers[pairOf(i)] = v[k];
      if (i < HELD_PAIRS) held[i] = v[k];
      squares = fmaf(v[k].y, v[k].y, fmaf(v[k].x, v[k].x, squares));
    }
  }
  const float factor = weight == nullptr ? 1.f : 1.f / sqrtf(sumOfBlock(squares) / hidden + epsilon);
#pragma unroll 1
  for (int i = threadIdx.x; i < hidden / 2; i += ROW_THREADS) {
    const float2 v = i < HELD_PAIRS ? held[i] : numbers[pairOf(i)];
    const float2 w = weight == nullptr ? float2{1.f, 1.f} : reinterpret_cast<const float2*>(weight)[pairOf(i)];
    to.store(row, i / 128, i % 128, hidden, w.x * (v.x * factor), w.y * (v.y * factor));
  }
}

// grid (rows, blocks that share a row), 256 threads: the activated gate times up as operands; both are in one row, gate first.
template <class GATE> DEVICE void activateToBlocks(const float* gateAndUp, int columns, const BlockRows& to) {
  letNextBegin();
  awaitPrevious();
  const float2* gate = reinterpret_cast<const float2*>(gateAndUp + (size_t)blockIdx.x * 2 * columns);
  const float2* up = gate + columns / 2;
#pragma unroll 1   // in a small step the code itself comes from memory
  for (int i = blockIdx.y * PART_THREADS + threadIdx.x; i < columns / 2; i += gridDim.y * PART_THREADS) {
    const int column = i / 128 * BLOCK_COLUMNS + BlockRows::columnOf(i % 128);
    const float2 g = gate[column / 2], u = up[column / 2];
    to.store(blockIdx.x, i / 128, i % 128, columns, GATE::of(g.x) * u.x, GATE::of(g.y) * u.y);
  }
}

// Same grid: halves as operands.
DEVICE void halvesToBlocks(const u16* x, int columns, const BlockRows& to) {
  letNextBegin();
  awaitPrevious();
  const u32* row = reinterpret_cast<const u32*>(x + (size_t)blockIdx.x * columns);
#pragma unroll 1   // in a small step the code itself comes from memory
  for (int i = blockIdx.y * PART_THREADS + threadIdx.x; i < columns / 2; i += gridDim.y * PART_THREADS) {
    const u32 pair = row[(i / 128 * BLOCK_COLUMNS + BlockRows::columnOf(i % 128)) / 2];
    to.store(blockIdx.x, i / 128, i % 128, columns, toFloat((u16)pair), toFloat((u16)(pair >> 16)));
  }
}

// grid (rows)
template <class KIND> DEVICE void embedFromBlocks(const u8* blocks, const u32* tokens, int hidden, float* x, float scale) {
  letNextBegin();
  awaitPrevious();
  const int token = tokens[blockIdx.x];
#pragma unroll 4
  for (int i = threadIdx.x; i < hidden; i += ROW_THREADS) {
    const size_t block = (size_t)(token / BLOCK_ROWS) * (hidden / BLOCK_COLUMNS) + i / BLOCK_COLUMNS;
    x[(size_t)blockIdx.x * hidden + i] = scale * KIND::at(blocks + block * KIND::BYTES, token, i);
  }
}
