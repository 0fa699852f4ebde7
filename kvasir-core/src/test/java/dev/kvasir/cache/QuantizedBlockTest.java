package dev.kvasir.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageWorkspace;
import dev.kvasir.codec.RequantizingCodec;
import dev.kvasir.codec.RequantizingSequence;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.kernel.ScalarKernels;
import dev.kvasir.memory.CountedArena;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.memory.SharedArena;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

class QuantizedBlockTest {
  private static final CacheShape SHAPE = new CacheShape(1, 1, 32);
  private static final int COUNT = Page.TOKENS * SHAPE.headDim();

  /** A sequence whose pages cannot be requantized, because memory has run out. */
  private record OutOfMemory(RequantizingSequence real) implements RequantizingSequence {
    @Override
    public Page requantize(SharedArena memory, int layer, Page page, int level) {
      throw new OutOfMemoryError("made up");
    }

    @Override
    public Page quantize(
        SharedArena memory, int layer, int position, float[] keys, float[] values) {
      return real.quantize(memory, layer, position, keys, values);
    }

    @Override
    public Page deserialize(SharedArena memory, int layer, Snapshot snapshot) {
      return real.deserialize(memory, layer, snapshot);
    }

    @Override
    public byte[] serializeState() {
      return real.serializeState();
    }

    @Override
    public int level(int layer) {
      return real.level(layer);
    }

    @Override
    public void setLevel(int layer, int level) {
      real.setLevel(layer, level);
    }

    @Override
    public int level(Page page) {
      return real.level(page);
    }

    @Override
    public RequantizingSequence fork() {
      return new OutOfMemory(real.fork());
    }
  }

  @Test
  void aPageThatCannotBeRequantizedStays() {
    long bytesBefore = CountedArena.liveBytes();
    RequantizingSequence real = codec().newSequence();
    QuantizedBlock block = quantized(List.of(real.quantize(0, 0, vectors(), vectors())));
    QuantizedBlock fork = block.share();
    float[] before = values(block);
    assertThatThrownBy(() -> block.requantize(new OutOfMemory(real), 0, 1, MemoryPool.unlimited()))
        .isInstanceOf(OutOfMemoryError.class);
    assertThat(values(block)).isEqualTo(before);
    block.release();
    assertThat(values(fork)).isEqualTo(before);
    fork.release();
    assertThat(CountedArena.liveBytes()).isEqualTo(bytesBefore);
  }

  @Test
  void aForkKeepsThePageThatAnotherRequantizes() {
    long bytesBefore = CountedArena.liveBytes();
    RequantizingSequence real = codec().newSequence();
    QuantizedBlock block = quantized(List.of(real.quantize(0, 0, vectors(), vectors())));
    QuantizedBlock fork = block.share();
    float[] before = values(block);
    block.requantize(real, 0, 1, MemoryPool.unlimited());
    assertThat(values(block)).isNotEqualTo(before);
    assertThat(values(fork)).isEqualTo(before);
    block.release();
    fork.release();
    assertThat(CountedArena.liveBytes()).isEqualTo(bytesBefore);
  }

  private static QuantizedBlock quantized(List<Page> pages) {
    CacheConfig settings = new CacheConfig(Precision.F16, 0, 0, Optional.of(codec()));
    return new QuantizedBlock(LayerGroups.of(SHAPE, settings).get(0), pages);
  }

  private static RequantizingCodec codec() {
    return (RequantizingCodec)
        CacheSpec.parse("pmkvq:2,budget=1MiB")
            .configFor(SHAPE)
            .cacheConfig(SHAPE, CacheContext.unknown())
            .codec()
            .orElseThrow();
  }

  private static float[] values(QuantizedBlock block) {
    float[] values = new float[COUNT];
    block.page(0).dequantizeValues(new PageWorkspace(new ScalarKernels()), 0, Page.TOKENS, values);
    return values;
  }

  private static float[] vectors() {
    Random random = new Random(8);
    float[] vectors = new float[COUNT];
    for (int i = 0; i < COUNT; i++) {
      vectors[i] = (float) random.nextGaussian();
    }
    return vectors;
  }
}
