package dev.kvasir.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.codec.CacheHost;
import dev.kvasir.codec.CacheSettings;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.Form;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageRoom;
import dev.kvasir.codec.ShrinkingCodec;
import dev.kvasir.codec.ShrinkingSequence;
import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.kernel.ScalarKernels;
import dev.kvasir.memory.CountedArena;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.memory.SharedArena;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

class SealedBlockTest {
  private static final CacheShape SHAPE = new CacheShape(1, 1, 32);
  private static final int COUNT = Page.TOKENS * SHAPE.headDim();

  /** A sequence whose pages cannot be made narrower, because memory has run out. */
  private record OutOfMemory(ShrinkingSequence real) implements ShrinkingSequence {
    @Override
    public Page shrunk(SharedArena memory, Page page, int level) {
      throw new OutOfMemoryError("made up");
    }

    @Override
    public Page seal(SharedArena memory, int layer, int position, float[] keys, float[] values) {
      return real.seal(memory, layer, position, keys, values);
    }

    @Override
    public Page read(SharedArena memory, int layer, Form form) {
      return real.read(memory, layer, form);
    }

    @Override
    public byte[] state() {
      return real.state();
    }

    @Override
    public int level(int layer) {
      return real.level(layer);
    }

    @Override
    public void moveTo(int layer, int level) {
      real.moveTo(layer, level);
    }

    @Override
    public int level(Page page) {
      return real.level(page);
    }

    @Override
    public ShrinkingSequence fork() {
      return new OutOfMemory(real.fork());
    }
  }

  @Test
  void aPageThatCannotBeMadeNarrowerStaysAsItIs() {
    long bytesBefore = CountedArena.liveBytes();
    ShrinkingSequence real = codec().begin();
    SealedBlock block = sealed(List.of(real.seal(0, 0, vectors(), vectors())));
    SealedBlock fork = block.share();
    float[] before = values(block);
    assertThatThrownBy(() -> block.shrink(new OutOfMemory(real), 0, 1, MemoryPool.unlimited()))
        .isInstanceOf(OutOfMemoryError.class);
    assertThat(values(block)).isEqualTo(before);
    block.release();
    assertThat(values(fork)).isEqualTo(before);
    fork.release();
    assertThat(CountedArena.liveBytes()).isEqualTo(bytesBefore);
  }

  @Test
  void aForkKeepsThePageThatASequenceHasMadeNarrower() {
    long bytesBefore = CountedArena.liveBytes();
    ShrinkingSequence real = codec().begin();
    SealedBlock block = sealed(List.of(real.seal(0, 0, vectors(), vectors())));
    SealedBlock fork = block.share();
    float[] before = values(block);
    block.shrink(real, 0, 1, MemoryPool.unlimited());
    assertThat(values(block)).isNotEqualTo(before);
    assertThat(values(fork)).isEqualTo(before);
    block.release();
    fork.release();
    assertThat(CountedArena.liveBytes()).isEqualTo(bytesBefore);
  }

  private static SealedBlock sealed(List<Page> pages) {
    CacheSettings settings = new CacheSettings(Precision.F16, 0, 0, Optional.of(codec()));
    return new SealedBlock(LayerGroup.whole(SHAPE, settings), pages);
  }

  private static ShrinkingCodec codec() {
    return (ShrinkingCodec)
        CacheSpec.parse("pmkvq:2,budget=1MiB")
            .plan()
            .settings(SHAPE, CacheHost.unknown())
            .codec()
            .orElseThrow();
  }

  private static float[] values(SealedBlock block) {
    float[] values = new float[COUNT];
    block.page(0).expandValues(new PageRoom(new ScalarKernels()), 0, Page.TOKENS, values);
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
