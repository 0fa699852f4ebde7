package dev.kvasir.stored;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cache.CacheSnapshot;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SequenceBlocksTest {
  private static final Identity IDENTITY = new Identity("w", "m", "kivi:2", "", 0, "");
  private static final int[] TOKENS = IntStream.range(0, 4 * 128).toArray();

  /** Blocks of one byte, their index; records which of them were serialized. */
  private static final class Counted implements CacheSnapshot {
    private final List<Integer> made = new ArrayList<>();

    @Override
    public int length() {
      return TOKENS.length;
    }

    @Override
    public int blocks() {
      return 4;
    }

    @Override
    public int end(int index) {
      return 128 * (index + 1);
    }

    @Override
    public byte[] block(int index) {
      made.add(index);
      return new byte[] {(byte) index};
    }

    @Override
    public byte[] residual() {
      return new byte[0];
    }
  }

  @Test
  void existingBlocksAreNotSerializedAgain() {
    List<String> all = SequenceBlocks.write(IDENTITY, TOKENS, new Counted(), (name, block) -> {});
    Counted grown = new Counted();
    List<String> put = new ArrayList<>();
    List<String> names =
        SequenceBlocks.write(
            IDENTITY, TOKENS, grown, all.subList(0, 3), (name, block) -> put.add(name));
    assertThat(names).isEqualTo(all).doesNotHaveDuplicates();
    assertThat(grown.made).containsExactly(3);
    assertThat(put).containsExactly(all.get(3));
  }
}
