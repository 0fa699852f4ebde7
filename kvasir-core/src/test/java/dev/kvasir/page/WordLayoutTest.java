package dev.kvasir.page;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class WordLayoutTest {
  @Property(tries = 200, seed = "1")
  void codesComeBack(
      @ForAll @IntRange(min = 1, max = 9) int vectors,
      @ForAll @IntRange(min = 1, max = 33) int quads,
      @ForAll @IntRange(min = 1, max = 8) int bits) {
    WordLayout layout = new WordLayout(16 * vectors, 4 * quads, bits);
    byte[] codes = new byte[layout.columns() * layout.rows()];
    Random random = new Random(quads);
    for (int i = 0; i < codes.length; i++) {
      codes[i] = (byte) random.nextInt(1 << bits);
    }
    byte[] canary = new byte[layout.bytes() + 2];
    canary[0] = 77;
    canary[canary.length - 1] = 78;
    layout.pack(new CodeScratch(), codes, MemorySegment.ofArray(canary), 1);
    assertThat(canary[0]).isEqualTo((byte) 77);
    assertThat(canary[canary.length - 1]).isEqualTo((byte) 78);
    byte[] back = new byte[codes.length];
    layout.unpack(new CodeScratch(), MemorySegment.ofArray(canary), 1, back);
    assertThat(back).isEqualTo(codes);
  }

  @Test
  void bytesAreBitsOverEight() {
    for (int bits = 1; bits <= 8; bits++) {
      assertThat(new WordLayout(128, 64, bits).bytes()).isEqualTo(128 * 64 * bits / 8);
    }
    // Half a quad of single bits takes half a byte per column.
    assertThat(new WordLayout(128, 4 * 5, 1).bytes()).isEqualTo(128 * 3);
  }

  /** The diagram in the class comment, by hand: 32 columns, 40 rows, 3 bits. */
  @Test
  void bitsAreWhereTheDiagramSays() {
    WordLayout layout = new WordLayout(32, 40, 3);
    byte[] codes = new byte[32 * 40];
    codes[25 * 32 + 18] = 0b111; // column 2 of the second tile
    codes[38 * 32 + 18] = 0b110;
    byte[] packed = new byte[layout.bytes()];
    layout.pack(new CodeScratch(), codes, MemorySegment.ofArray(packed), 0);
    byte[] expected = new byte[layout.bytes()];
    int tile = 16 * (10 + 5);
    // Ten quads of two bits: two words of four quads, and two quads that fill none.
    expected[tile + 64 + 4 * 2 + 1] = 0b0011_0000; // row 25 is 1 of quad 2 of word 1
    expected[tile + 2 * 64 + 16 + 2] = 0b0010_0000; // row 38 is 2 of the last quad
    // And of one bit: a word of eight quads, and two quads that fill none.
    int ones = tile + 16 * 10;
    expected[ones + 4 * 2 + 1] = 0b0100_0000; // row 25 is 1 of quad 6
    expected[ones + 64 + 2] = 0b0100_0000; // row 38 is the sixth of the last eight
    assertThat(packed).isEqualTo(expected);
  }

  @Test
  void tilesFollowEachOther() {
    WordLayout layout = new WordLayout(80, 128, 2);
    assertThat(layout.tiles()).isEqualTo(5);
    assertThat(layout.tileBytes()).isEqualTo(16 * 32);
  }

  @Test
  void sizesThatDoNotFitAreRefused() {
    assertThatThrownBy(() -> new WordLayout(24, 64, 2)).hasMessageContaining("columns is 24");
    assertThatThrownBy(() -> new WordLayout(32, 6, 2)).hasMessageContaining("rows is 6");
    assertThatThrownBy(() -> new WordLayout(32, 64, 9)).hasMessageContaining("bits is 9");
  }
}
