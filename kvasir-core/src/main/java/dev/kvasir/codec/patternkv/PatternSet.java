package dev.kvasir.codec.patternkv;

import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.PatternKernels;
import dev.kvasir.memory.MemoryPool;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A bank of patterns for the keys, or for the values, of a sequence in all layers, as it was at
 * some time. A bank only ever grows, so each addition is a version that holds the one before it:
 * pages point to the version that was the last when they were sealed, and forks share what they
 * have in common without copying.
 */
public final class PatternSet {
  /** Indices are bytes, and one of them says that a vector has no pattern. */
  public static final int MAX_COUNT = 255;

  public static final int NONE = PatternKernels.NO_ROW;

  /** Places of a slab that later patterns share. */
  private static final int SLAB_SLOTS = 16;

  private final PatternSet previous; // null in the first version
  private final int position;
  private final int added;
  private final int count;
  private final PatternSlab slab;
  private final int slabFirst; // the index of the pattern in the slab's first place
  private final PatternSet base; // the version before the slab's first pattern
  private final AtomicInteger references = new AtomicInteger(1);

  private PatternSet(
      PatternSet previous,
      int position,
      int added,
      PatternSlab slab,
      int slabFirst,
      PatternSet base) {
    this.previous = previous == null ? null : previous.retain();
    this.position = position;
    this.added = added;
    this.count = added + (previous == null ? 0 : previous.count);
    this.slab = slab;
    this.slabFirst = slabFirst;
    this.base = base;
  }

  /**
   * The first patterns of a sequence, to be put.
   *
   * @param position of the first token that may have one of them
   */
  static PatternSet initial(PatternBankShape shape, MemoryPool pool, int position, int count) {
    PatternSlab slab = new PatternSlab(shape, pool, count);
    slab.claim(0, count);
    return new PatternSet(null, position, count, slab, 0, null);
  }

  /**
   * One pattern more, to be put.
   *
   * @param from the first token that may have it
   */
  PatternSet extended(PatternBankShape shape, MemoryPool pool, int from) {
    int slot = count() - slabFirst;
    if (slab.claim(slot, 1)) {
      return new PatternSet(this, from, 1, slab.retain(), slabFirst, base);
    }
    PatternSlab next = new PatternSlab(shape, pool, slabSlots(count()));
    next.claim(0, 1);
    return new PatternSet(this, from, 1, next, count(), this);
  }

  private static int slabSlots(int first) {
    return Math.min(SLAB_SLOTS, MAX_COUNT - first);
  }

  /** Places that are allocated for a bank of so many patterns, the first of which were mined. */
  static int allocatedSlots(int mined, int count) {
    int slabs = Math.ceilDiv(count - mined, SLAB_SLOTS);
    return Math.min(mined + slabs * SLAB_SLOTS, MAX_COUNT);
  }

  /** Sets the added patterns of a head: (added, headDim), rounded to halves. */
  void put(int layer, int kvHead, float[] patterns) {
    slab.put(layer, kvHead, firstAdded() - slabFirst, added, patterns);
  }

  /** The added patterns of a layer as they lie. // (kvHeads, added, headDim) */
  short[] addedHalves(int layer) {
    return slab.halves(layer, count() - added - slabFirst, added);
  }

  /** Sets what {@link #addedHalves} left. */
  void putHalves(int layer, short[] halves) {
    slab.putHalves(layer, count() - added - slabFirst, added, halves);
  }

  /** The version that this one was added to; null if it is the first. */
  PatternSet previous() {
    return previous;
  }

  int position() {
    return position;
  }

  /** Patterns that the version before did not have. */
  int added() {
    return added;
  }

  /** The version with so many patterns that this one grew from, or this one; null without any. */
  PatternSet versionWithCount(int wanted) {
    PatternSet version = this;
    while (version != null && version.count > wanted) {
      version = version.previous;
    }
    return version == null || version.count < wanted ? null : version;
  }

  /** Patterns of a layer and head. */
  public int count() {
    return count;
  }

  /** The index of the first pattern that this version added. */
  int firstAdded() {
    return count - added;
  }

  /** The patterns of a head from {@code from} on as floats: (patterns, headDim), from the first. */
  public void expand(Kernels kernels, int layer, int kvHead, int from, float[] out) {
    int end = count();
    for (PatternSet part = this; part != null && end > from; part = part.base) {
      int begin = Math.max(from, part.slabFirst);
      part.slab.expand(kernels, layer, kvHead, begin - part.slabFirst, end - begin, out, begin);
      end = part.slabFirst;
    }
  }

  /** What is allocated for this version. */
  long bytes() {
    return slab.bytes() + (base == null ? 0 : base.bytes());
  }

  PatternSet retain() {
    references.incrementAndGet();
    return this;
  }

  /** The last one to let go frees it, and lets go of the version before. */
  void release() {
    PatternSet version = this;
    while (version != null && version.references.decrementAndGet() == 0) {
      version.slab.unclaim(version.firstAdded() - version.slabFirst, version.added);
      version.slab.release();
      version = version.previous;
    }
  }
}
