package dev.kvasir.codec.mixed;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageCodec;
import dev.kvasir.codec.RequantizingCodec;
import dev.kvasir.codec.RequantizingSequence;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.codec.StatelessCodec;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.memory.SharedArena;
import java.util.Comparator;
import java.util.List;
import java.util.function.ToLongFunction;

/** Applies a method to each part of the layers. */
class MixedHeadsCodec implements PageCodec {
  final LayerParts layers;
  final List<PageCodec> parts;

  private MixedHeadsCodec(LayerParts layers, List<PageCodec> parts) {
    this.layers = layers;
    this.parts = parts;
  }

  /** Returns a codec that is stateless, or requantizes pages, if those of all parts are or do. */
  static PageCodec of(LayerParts layers, List<PageCodec> parts) {
    if (parts.stream().allMatch(RequantizingCodec.class::isInstance)) {
      return new Requantizing(layers, parts);
    }
    return parts.stream().allMatch(StatelessCodec.class::isInstance)
        ? new Stateless(layers, parts)
        : new MixedHeadsCodec(layers, parts);
  }

  @Override
  public SequenceCodec newSequence(MemoryPool pool) {
    return new MixedHeadsSequence(layers, newSequences(pool));
  }

  @Override
  public SequenceCodec resumeSequence(MemoryPool pool, byte[] state) {
    return new MixedHeadsSequence(layers, resumeSequences(pool, state));
  }

  final List<SequenceCodec> newSequences(MemoryPool pool) {
    return MixedHeadsSequence.create(layers, part -> parts.get(part).newSequence(pool));
  }

  final List<SequenceCodec> resumeSequences(MemoryPool pool, byte[] state) {
    List<byte[]> states = MixedHeadsSequence.states(state, layers.count());
    return MixedHeadsSequence.create(
        layers, part -> parts.get(part).resumeSequence(pool, states.get(part)));
  }

  private PageCodec of(int layer) {
    return parts.get(layers.partOf(layer));
  }

  private long sum(ToLongFunction<PageCodec> bytes) {
    return parts.stream().mapToLong(bytes).sum();
  }

  private PageCodec largest() {
    return parts.stream().max(Comparator.comparingLong(PageCodec::pageBytes)).orElseThrow();
  }

  @Override
  public SizeAccuracy sizes() {
    return parts.stream().map(PageCodec::sizes).max(Comparator.naturalOrder()).orElseThrow();
  }

  @Override
  public boolean prefersQuantizedPrefill() {
    return parts.stream().allMatch(PageCodec::prefersQuantizedPrefill);
  }

  @Override
  public int maxQueryRows() {
    return parts.stream().mapToInt(PageCodec::maxQueryRows).min().orElseThrow();
  }

  @Override
  public boolean allowsDeferredCheck() {
    return parts.stream().allMatch(PageCodec::allowsDeferredCheck);
  }

  @Override
  public int blocksPerGroup() {
    return parts.getFirst().blocksPerGroup(); // the spec decides it, so all parts agree
  }

  @Override
  public boolean hasIndependentLayers() {
    return parts.stream().allMatch(PageCodec::hasIndependentLayers);
  }

  @Override
  public long pageBytes() {
    return largest().pageBytes();
  }

  @Override
  public long codeBytes() {
    return largest().codeBytes();
  }

  @Override
  public long pageBytes(int layer) {
    return of(layer).pageBytes(layers.indexOf(layer));
  }

  @Override
  public long codeBytes(int layer) {
    return of(layer).codeBytes(layers.indexOf(layer));
  }

  @Override
  public long tableBytes(int quantizedBlocks) {
    return sum(part -> part.tableBytes(quantizedBlocks));
  }

  @Override
  public long sharedBytes() {
    return sum(PageCodec::sharedBytes);
  }

  /** The codec of a stateless method. */
  private static final class Stateless extends MixedHeadsCodec implements StatelessCodec {
    Stateless(LayerParts layers, List<PageCodec> parts) {
      super(layers, parts);
    }

    private StatelessCodec part(int layer) {
      return (StatelessCodec) parts.get(layers.partOf(layer));
    }

    @Override
    public SequenceCodec newSequence(MemoryPool pool) {
      return this;
    }

    @Override
    public SequenceCodec resumeSequence(MemoryPool pool, byte[] state) {
      return StatelessCodec.super.resumeSequence(pool, state);
    }

    @Override
    public boolean allowsDeferredCheck() {
      return super.allowsDeferredCheck();
    }

    @Override
    public boolean hasIndependentLayers() {
      return super.hasIndependentLayers();
    }

    @Override
    public Page quantize(
        SharedArena memory, int layer, int position, float[] keys, float[] values) {
      return part(layer).quantize(memory, layers.indexOf(layer), position, keys, values);
    }

    @Override
    public Page deserialize(SharedArena memory, int layer, Snapshot snapshot) {
      return part(layer).deserialize(memory, layers.indexOf(layer), snapshot);
    }

    @Override
    public long tableBytes() {
      return 0;
    }
  }

  /** The codec of a method that requantizes pages. */
  private static final class Requantizing extends MixedHeadsCodec implements RequantizingCodec {
    Requantizing(LayerParts layers, List<PageCodec> parts) {
      super(layers, parts);
    }

    private RequantizingCodec part(int layer) {
      return (RequantizingCodec) parts.get(layers.partOf(layer));
    }

    @Override
    public RequantizingSequence newSequence(MemoryPool pool) {
      return new RequantizingMixedHeadsSequence(layers, newSequences(pool));
    }

    @Override
    public RequantizingSequence newSequence() {
      return newSequence(MemoryPool.unlimited());
    }

    @Override
    public RequantizingSequence resumeSequence(MemoryPool pool, byte[] state) {
      return new RequantizingMixedHeadsSequence(layers, resumeSequences(pool, state));
    }

    @Override
    public int floorLevel(int layer) {
      return part(layer).floorLevel(layers.indexOf(layer));
    }

    @Override
    public long pageBytes(int layer, int level) {
      return part(layer).pageBytes(layers.indexOf(layer), level);
    }

    @Override
    public long codeBytes(int layer, int level) {
      return part(layer).codeBytes(layers.indexOf(layer), level);
    }
  }
}
