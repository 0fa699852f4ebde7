package dev.kvasir.codec.pmkvq;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.OperandPrecision;
import dev.kvasir.codec.RequantizingCodec;
import dev.kvasir.codec.RequantizingSequence;
import dev.kvasir.codec.SnapshotHeader;
import dev.kvasir.codec.basis.SmoothingFactors;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.page.HeadShape;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * PM-KVQ: pages start with 16-bit codes and are requantized when memory is full, each layer down to
 * its own floor. A new page is quantized directly to the current level, and an old one is shifted.
 * Both have the same scales.
 */
public final class PmkvqCodec implements RequantizingCodec {
  private final int kvHeads;
  private final int[] floors; // levels, by layer
  private final List<SmoothingFactors> smoothing; // by layer, or empty
  private final LevelShapes levelShapes;
  private final Requantizer requantizer;
  private final OperandPrecision operandPrecision;
  private final InitialWidth initialWidth;

  /**
   * Creates a codec.
   *
   * @param floorBits minimum bits of each layer: 2, 4, 8 or 16
   * @param smoothing one for each layer, or empty
   * @param operandPrecision how attention multiplies with codes
   * @param initialWidth the bit width at which pages are first quantized
   */
  public PmkvqCodec(
      CacheShape shape,
      int[] floorBits,
      KeyScaleAxis keyScales,
      List<SmoothingFactors> smoothing,
      RightShift shift,
      OperandPrecision operandPrecision,
      InitialWidth initialWidth) {
    this.kvHeads = shape.kvHeads();
    this.floors = java.util.Arrays.stream(floorBits).map(LevelShapes::level).toArray();
    this.smoothing = List.copyOf(smoothing);
    this.levelShapes = new LevelShapes(shape, keyScales);
    this.requantizer = new Requantizer(shift);
    this.operandPrecision = operandPrecision;
    this.initialWidth = initialWidth;
  }

  @Override
  public RequantizingSequence newSequence(MemoryPool pool) {
    return new PmkvqSequence(this, new int[floors.length]);
  }

  @Override
  public RequantizingSequence resumeSequence(MemoryPool pool, byte[] state) {
    return PmkvqSequence.resumed(this, state);
  }

  int layers() {
    return floors.length;
  }

  List<HeadShape> shapes(int level) {
    return Collections.nCopies(kvHeads, levelShapes.at(level));
  }

  Optional<SmoothingFactors> smoothing(int layer) {
    return smoothing.isEmpty() ? Optional.empty() : Optional.of(smoothing.get(layer));
  }

  /** Returns the level of a bit width, if the layer allows it. */
  int requireLevel(SnapshotHeader header, int layer, int bits) {
    for (int level = 0; level <= floors[layer]; level++) {
      if (LevelShapes.bits(level) == bits) {
        return level;
      }
    }
    throw header.invalid(
        "has %d bits in layer %d; this cache has %d, halved down to %d"
            .formatted(bits, layer, LevelShapes.WIDEST, LevelShapes.bits(floors[layer])));
  }

  OperandPrecision operandPrecision() {
    return operandPrecision;
  }

  InitialWidth birth() {
    return initialWidth;
  }

  Requantizer requantizer() {
    return requantizer;
  }

  @Override
  public boolean allowsDeferredCheck() {
    return true;
  }

  @Override
  public int floorLevel(int layer) {
    return floors[layer];
  }

  @Override
  public long pageBytes(int layer, int level) {
    return (long) kvHeads * levelShapes.at(level).bytes();
  }

  @Override
  public long codeBytes(int layer, int level) {
    return (long) kvHeads * levelShapes.at(level).codeBytes();
  }

  @Override
  public boolean hasIndependentLayers() {
    return true;
  }

  /** Returns the bytes before any requantization. */
  @Override
  public long pageBytes() {
    return pageBytes(0, 0);
  }

  @Override
  public long codeBytes() {
    return codeBytes(0, 0);
  }
}
