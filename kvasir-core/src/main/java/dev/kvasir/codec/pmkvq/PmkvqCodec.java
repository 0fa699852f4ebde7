package dev.kvasir.codec.pmkvq;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.Envelope;
import dev.kvasir.codec.Lookups;
import dev.kvasir.codec.ShrinkingCodec;
import dev.kvasir.codec.ShrinkingSequence;
import dev.kvasir.codec.basis.Smoothing;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.page.HeadShape;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * PM-KVQ: pages begin with 16-bit codes and are made narrower when memory runs out, each layer down
 * to a width of its own. A new page is coded to the width that there is room for at once, and an
 * old one is shifted: both have the same scales.
 */
public final class PmkvqCodec implements ShrinkingCodec {
  private final int kvHeads;
  private final int[] floors; // levels, by layer
  private final List<Smoothing> smoothing; // by layer, empty without
  private final HeadWidths widths;
  private final Narrowing narrowing;
  private final Lookups lookups;
  private final Birth birth;

  /**
   * @param floorBits the width that each layer's pages may shrink to: 2, 4, 8 or 16
   * @param smoothing for each layer, or empty
   * @param lookups how attention reads pages
   * @param birth the width that pages are coded to at first
   */
  public PmkvqCodec(
      CacheShape shape,
      int[] floorBits,
      KeyScales keyScales,
      List<Smoothing> smoothing,
      RightShift shift,
      Lookups lookups,
      Birth birth) {
    this.kvHeads = shape.kvHeads();
    this.floors = java.util.Arrays.stream(floorBits).map(HeadWidths::level).toArray();
    this.smoothing = List.copyOf(smoothing);
    this.widths = new HeadWidths(shape, keyScales);
    this.narrowing = new Narrowing(shift);
    this.lookups = lookups;
    this.birth = birth;
  }

  @Override
  public ShrinkingSequence begin(MemoryPool pool) {
    return new PmkvqSequence(this, new int[floors.length]);
  }

  @Override
  public ShrinkingSequence resume(MemoryPool pool, byte[] state) {
    return PmkvqSequence.resumed(this, state);
  }

  int layers() {
    return floors.length;
  }

  List<HeadShape> shapes(int level) {
    return Collections.nCopies(kvHeads, widths.at(level));
  }

  Optional<Smoothing> smoothing(int layer) {
    return smoothing.isEmpty() ? Optional.empty() : Optional.of(smoothing.get(layer));
  }

  /** The level of a width, if a layer's pages may have it. */
  int requireLevel(Envelope form, int layer, int bits) {
    for (int level = 0; level <= floors[layer]; level++) {
      if (HeadWidths.bits(level) == bits) {
        return level;
      }
    }
    throw form.refused(
        "has %d bits in layer %d; this cache has %d, halved down to %d"
            .formatted(bits, layer, HeadWidths.WIDEST, HeadWidths.bits(floors[layer])));
  }

  Lookups lookups() {
    return lookups;
  }

  Birth birth() {
    return birth;
  }

  Narrowing narrowing() {
    return narrowing;
  }

  @Override
  public boolean readsInPlace() {
    return true;
  }

  @Override
  public int floor(int layer) {
    return floors[layer];
  }

  @Override
  public long pageBytes(int layer, int level) {
    return (long) kvHeads * widths.at(level).bytes();
  }

  @Override
  public long codeBytes(int layer, int level) {
    return (long) kvHeads * widths.at(level).codeBytes();
  }

  @Override
  public boolean packsLayersApart() {
    return true;
  }

  /** Before anything has shrunk. */
  @Override
  public long pageBytes() {
    return pageBytes(0, 0);
  }

  @Override
  public long codeBytes() {
    return codeBytes(0, 0);
  }
}
