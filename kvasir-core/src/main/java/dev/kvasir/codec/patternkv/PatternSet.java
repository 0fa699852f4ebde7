package dev.kvasir.codec.patternkv;

import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.PatternKernels;
import dev.kvasir.memory.MemoryPool;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A version of the patterns for a sequence's keys or values, in all layers. Patterns are only ever
 * added, and each addition creates a version that refers to the previous one. A page refers to the
 * latest version at its creation. Forks share their common versions without copying.
 */
public final class PatternSet {
  /** Maximum number of patterns: indices are bytes, and one value means no pattern. */
  public static final int MAX_COUNT = 255;

  public static final int NONE = PatternKernels.NO_ROW;

  /** Slots of a slab for patterns added later. */
  private static final int SLAB_SLOTS = 16;

  private final PatternSet previous; // null in the first version
  private final int position;
  private final int added;
  private final int count;
  private final PatternSlab slab;
  private final int slabFirst; // index of the pattern in the slab's first slot
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
   * Returns the first version of a sequence, with patterns yet to be set.
   *
   * @param position of the first token that may use them
   */
  static PatternSet initial(PatternBankShape shape, MemoryPool pool, int position, int count) {
    PatternSlab slab = new PatternSlab(shape, pool, count);
    slab.claim(0, count);
    return new PatternSet(null, position, count, slab, 0, null);
  }

  /**
   * Returns the next version, with one more pattern yet to be set.
   *
   * @param from position of the first token that may use it
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

  /**
   * Returns the slots allocated for {@code count} patterns, {@code mined} of them in the first
   * version.
   */
  static int allocatedSlots(int mined, int count) {
    int slabs = Math.ceilDiv(count - mined, SLAB_SLOTS);
    return Math.min(mined + slabs * SLAB_SLOTS, MAX_COUNT);
  }

  /** Sets the added patterns of a head: (added, headDim), rounded to fp16. */
  void put(int layer, int kvHead, float[] patterns) {
    slab.put(layer, kvHead, firstAdded() - slabFirst, added, patterns);
  }

  /** Returns the stored added patterns of a layer. // (kvHeads, added, headDim) */
  short[] addedHalves(int layer) {
    return slab.halves(layer, count() - added - slabFirst, added);
  }

  /** Sets the added patterns of a layer as returned by {@link #addedHalves}. */
  void putHalves(int layer, short[] halves) {
    slab.putHalves(layer, count() - added - slabFirst, added, halves);
  }

  /** Returns the version before this one; null if it is the first. */
  PatternSet previous() {
    return previous;
  }

  int position() {
    return position;
  }

  /** Returns the number of patterns added to the previous version. */
  int added() {
    return added;
  }

  /** Returns this or an earlier version with the given number of patterns; null without any. */
  PatternSet versionWithCount(int wanted) {
    PatternSet version = this;
    while (version != null && version.count > wanted) {
      version = version.previous;
    }
    return version == null || version.count < wanted ? null : version;
  }

  /** Returns the number of patterns of a layer and head. */
  public int count() {
    return count;
  }

  /** Returns the index of the first pattern that this version added. */
  int firstAdded() {
    return count - added;
  }

  /**
   * Writes the patterns of a head from {@code from} on as floats, each at its index: (patterns,
   * headDim).
   */
  public void expand(Kernels kernels, int layer, int kvHead, int from, float[] out) {
    int end = count();
    for (PatternSet part = this; part != null && end > from; part = part.base) {
      int begin = Math.max(from, part.slabFirst);
      part.slab.expand(kernels, layer, kvHead, begin - part.slabFirst, end - begin, out, begin);
      end = part.slabFirst;
    }
  }

  /** Returns the bytes allocated for this version. */
  long bytes() {
    return slab.bytes() + (base == null ? 0 : base.bytes());
  }

  PatternSet retain() {
    references.incrementAndGet();
    return this;
  }

  /**
   * Drops a reference. The last one frees the memory and drops the reference to the previous
   * version.
   */
  void release() {
    PatternSet version = this;
    while (version != null && version.references.decrementAndGet() == 0) {
      version.slab.unclaim(version.firstAdded() - version.slabFirst, version.added);
      version.slab.release();
      version = version.previous;
    }
  }
}
