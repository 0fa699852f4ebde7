// What bounds the attention of a layer: a sliding window, and a soft cap of scores. Kernels are compiled with and without.
//
//   positions   0 .. sinks | packed pages | fp16 pages        seen: `first` and later ones
//   table       packed pages | fp16 pages of sinks | fp16 pages of the residual window
#pragma once
#include "attention.cuh"

struct Unlimited {
  static constexpr bool LIMITED = false;

  Unlimited() = default;
  DEVICE Unlimited(const Attention&, const Sequence&, const PageEntry*) {}

  DEVICE int hiddenPages() const { return 0; }
  DEVICE int positionOfHalf(int) const { return 0; }
  DEVICE bool hides(int, int) const { return false; }
  DEVICE bool sees(int) const { return true; }
  DEVICE float cap(float score) const { return score; }
};

struct Limited {
  static constexpr bool LIMITED = true;

  int first;         // position of the first token that the query attends to
  int sinks, sinkPages, packedPages;
  float most;        // bound of scores in powers of two; 0 for none

  Limited() = default;
  DEVICE Limited(const Attention& a, const Sequence& sequence, const PageEntry* entries)
      : sinks(a.sinks), sinkPages((a.sinks + PAGE_TOKENS - 1) / PAGE_TOKENS), packedPages(sequence.packedPages), most(a.cap) {
    first = max(lengthOf(sequence, entries) - (int)a.window, 0);
  }

  // Returns the tokens of a sequence. Its last entry may be the last page of sinks, behind which are packed pages only.
  DEVICE int lengthOf(const Sequence& sequence, const PageEntry* entries) const {
    const int pages = sequence.packedPages + sequence.halfPages, last = tokensOf(entries[pages - 1]);
    if (sinks == 0 || (int)sequence.halfPages > sinkPages) return sinks + PAGE_TOKENS * (pages - sinkPages - 1) + last;
    return packedPages > 0 ? sinks + PAGE_TOKENS * packedPages : PAGE_TOKENS * (pages - 1) + last;
  }

  // Returns the packed pages before the first one with tokens in the window. Without sinks, fp16 pages count alike.
  DEVICE int hiddenPages() const { return max(first - sinks, 0) / PAGE_TOKENS; }

  DEVICE int positionOf(int packedPage) const { return sinks + PAGE_TOKENS * packedPage; }
  DEVICE int positionOfHalf(int page) const {
    return page < sinkPages ? PAGE_TOKENS * page : positionOf(packedPages + page - sinkPages);
  }

  // Returns whether none of these tokens is attended to.
  DEVICE bool hides(int position, int tokens) const { return position + tokens <= first; }
  DEVICE bool sees(int position) const { return position >= first; }
  DEVICE float cap(float score) const { return softCap(score, most); }

  // Bounds the scores of a packed page: x[i] of a lane is token 8i + r, of the first or the last 32.
  template <int SETS>
  DEVICE void bound(int packedPage, bool upper, int lane, float (&x0)[SETS][4], float (&x1)[SETS][4]) const {
    const int token = positionOf(packedPage) + (lane >> 2) + (upper ? 32 : 0);
#pragma unroll
    for (int s = 0; s < SETS; s++) {
#pragma unroll
      for (int i = 0; i < 4; i++) {
        x0[s][i] = sees(token + 8 * i) ? cap(x0[s][i]) : minusInfinity();
        x1[s][i] = sees(token + 8 * i) ? cap(x1[s][i]) : minusInfinity();
      }
    }
  }
};
