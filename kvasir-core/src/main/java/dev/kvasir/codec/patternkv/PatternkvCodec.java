package dev.kvasir.codec.patternkv;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.LayerWindows;
import dev.kvasir.codec.OperandPrecision;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageCodec;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.page.HeadShape;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * PatternKV: vectors resemble each other, so what is quantized is only how a vector differs from
 * the most similar of a few patterns, whose range is smaller.
 *
 * @param head what the residuals of a head are packed to
 * @param keys empty where keys are packed without patterns
 * @param values empty where values are packed without patterns
 * @param lookups how attention reads residuals
 * @param kernels that patterns are mined with
 * @param crew threads that mine patterns
 */
public record PatternkvCodec(
    CacheShape shape,
    HeadShape head,
    Optional<PatternOptions> keys,
    Optional<PatternOptions> values,
    OperandPrecision operandPrecision,
    Kernels kernels,
    WorkerPool workers)
    implements PageCodec {
  @Override
  public SequenceCodec newSequence(MemoryPool pool) {
    return new PatternkvSequence(this, pool);
  }

  @Override
  public SequenceCodec resumeSequence(MemoryPool pool, byte[] state) {
    return PatternkvSequence.resumed(this, pool, state);
  }

  /** What a bank of patterns of keys is made for. */
  PatternBankShape keyShape() {
    return new PatternBankShape(shape.layers(), shape.kvHeads(), shape.keyDim());
  }

  /** What a bank of patterns of values is made for. */
  PatternBankShape valueShape() {
    return new PatternBankShape(shape.layers(), shape.kvHeads(), shape.valueDim());
  }

  /** Layers that may let go of pages, and with them of the patterns that those brought along. */
  int[] windowedLayers() {
    return IntStream.range(0, shape.layers())
        .filter(layer -> shape.windows().of(layer) != LayerWindows.UNBOUNDED)
        .toArray();
  }

  @Override
  public boolean hasIndependentLayers() {
    return true;
  }

  private Stream<PatternOptions> sides() {
    return Stream.concat(keys.stream(), values.stream());
  }

  @Override
  public long pageBytes() {
    long indexBytes = sides().count() * Page.TOKENS;
    return shape.kvHeads() * (head.bytes() + indexBytes);
  }

  @Override
  public long codeBytes() {
    return (long) shape.kvHeads() * head.codeBytes();
  }

  @Override
  public long tableBytes(int sealedBlocks) {
    return tableBytes(keys, keyShape(), sealedBlocks)
        + tableBytes(values, valueShape(), sealedBlocks);
  }

  private static long tableBytes(
      Optional<PatternOptions> side, PatternBankShape bank, int sealedBlocks) {
    return side.map(used -> bank.bytes(used.slotsAfter(sealedBlocks))).orElse(0L);
  }
}
