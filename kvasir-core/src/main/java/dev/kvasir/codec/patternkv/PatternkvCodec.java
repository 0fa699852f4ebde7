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
 * PatternKV: vectors resemble each other, so only the residual to the most similar of a few
 * patterns is quantized. Its range is smaller.
 *
 * @param head the shape of a head's residuals
 * @param keys empty if keys have no patterns
 * @param values empty if values have no patterns
 * @param operandPrecision how attention multiplies with the codes of residuals
 * @param kernels kernels that mine patterns
 * @param workers threads that mine patterns
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

  PatternBankShape keyShape() {
    return new PatternBankShape(shape.layers(), shape.kvHeads(), shape.keyDim());
  }

  PatternBankShape valueShape() {
    return new PatternBankShape(shape.layers(), shape.kvHeads(), shape.valueDim());
  }

  /**
   * Returns the layers with sliding-window attention. They may evict pages together with the
   * patterns stored in them.
   */
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
  public long tableBytes(int quantizedBlocks) {
    return tableBytes(keys, keyShape(), quantizedBlocks)
        + tableBytes(values, valueShape(), quantizedBlocks);
  }

  private static long tableBytes(
      Optional<PatternOptions> side, PatternBankShape bank, int quantizedBlocks) {
    return side.map(used -> bank.bytes(used.slotsAfter(quantizedBlocks))).orElse(0L);
  }
}
