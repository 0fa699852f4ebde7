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
public final class Patterns {
  /** Indices are bytes, and one of them says that a vector has no pattern. */
  public static final int MOST = 255;

  public static final int NONE = PatternKernels.NONE;

  /** Places of a slab that later patterns share. */
  private static final int SLAB_PLACES = 16;

  private final Patterns before; // null in the first version
  private final int position;
  private final int added;
  private final int count;
  private final PatternSlab slab;
  private final int slabFirst; // the index of the pattern in the slab's first place
  private final Patterns base; // the version before the slab's first pattern
  private final AtomicInteger holders = new AtomicInteger(1);

  private Patterns(
      Patterns before, int position, int added, PatternSlab slab, int slabFirst, Patterns base) {
    this.before = before == null ? null : before.retain();
    this.position = position;
    this.added = added;
    this.count = added + (before == null ? 0 : before.count);
    this.slab = slab;
    this.slabFirst = slabFirst;
    this.base = base;
  }

  /**
   * The first patterns of a sequence, to be put.
   *
   * @param position of the first token that may have one of them
   */
  static Patterns mined(PatternkvShape shape, MemoryPool pool, int position, int count) {
    PatternSlab slab = new PatternSlab(shape, pool, count);
    slab.claim(0, count);
    return new Patterns(null, position, count, slab, 0, null);
  }

  /**
   * One pattern more, to be put.
   *
   * @param from the first token that may have it
   */
  Patterns grown(PatternkvShape shape, MemoryPool pool, int from) {
    int place = count() - slabFirst;
    if (slab.claim(place, 1)) {
      return new Patterns(this, from, 1, slab.retain(), slabFirst, base);
    }
    PatternSlab next = new PatternSlab(shape, pool, slabPlaces(count()));
    next.claim(0, 1);
    return new Patterns(this, from, 1, next, count(), this);
  }

  private static int slabPlaces(int first) {
    return Math.min(SLAB_PLACES, MOST - first);
  }

  /** Places that are allocated for a bank of so many patterns, the first of which were mined. */
  static int places(int mined, int count) {
    int slabs = Math.ceilDiv(count - mined, SLAB_PLACES);
    return Math.min(mined + slabs * SLAB_PLACES, MOST);
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
  Patterns before() {
    return before;
  }

  int position() {
    return position;
  }

  /** Patterns that the version before did not have. */
  int added() {
    return added;
  }

  /** The version with so many patterns that this one grew from, or this one; null without any. */
  Patterns ofCount(int wanted) {
    Patterns version = this;
    while (version != null && version.count > wanted) {
      version = version.before;
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
    for (Patterns part = this; part != null && end > from; part = part.base) {
      int begin = Math.max(from, part.slabFirst);
      part.slab.expand(kernels, layer, kvHead, begin - part.slabFirst, end - begin, out, begin);
      end = part.slabFirst;
    }
  }

  /** What is allocated for this version. */
  long bytes() {
    return slab.bytes() + (base == null ? 0 : base.bytes());
  }

  Patterns retain() {
    holders.incrementAndGet();
    return this;
  }

  /** The last one to let go frees it, and lets go of the version before. */
  void release() {
    Patterns version = this;
    while (version != null && version.holders.decrementAndGet() == 0) {
      version.slab.giveBack(version.firstAdded() - version.slabFirst, version.added);
      version.slab.release();
      version = version.before;
    }
  }
}
