package dev.kvasir.page;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class PlaneLayoutTest {
  @Property(tries = 200, seed = "1")
  void codesComeBack(
      @ForAll @IntRange(min = 1, max = 9) int vectors,
      @ForAll @IntRange(min = 1, max = 33) int quads,
      @ForAll @IntRange(min = 1, max = 8) int bits) {
    PlaneLayout layout = new PlaneLayout(16 * vectors, 4 * quads, bits);
    byte[] codes = new byte[layout.lanes() * layout.entries()];
    Random random = new Random(quads);
    for (int i = 0; i < codes.length; i++) {
      codes[i] = (byte) random.nextInt(1 << bits);
    }
    byte[] canary = new byte[layout.bytes() + 2];
    canary[0] = 77;
    canary[canary.length - 1] = 78;
    layout.pack(new CodeRoom(), codes, MemorySegment.ofArray(canary), 1);
    assertThat(canary[0]).isEqualTo((byte) 77);
    assertThat(canary[canary.length - 1]).isEqualTo((byte) 78);
    byte[] back = new byte[codes.length];
    layout.unpack(new CodeRoom(), MemorySegment.ofArray(canary), 1, back);
    assertThat(back).isEqualTo(codes);
  }

  @Test
  void bytesAreBitsOverEight() {
    for (int bits = 1; bits <= 8; bits++) {
      assertThat(new PlaneLayout(128, 64, bits).bytes()).isEqualTo(128 * 64 * bits / 8);
    }
    // An odd number of quads leaves half a byte a lane unused in a single plane.
    assertThat(new PlaneLayout(128, 4 * 5, 1).bytes()).isEqualTo(128 * 3);
  }

  /** The picture in the class comment, by hand: 32 lanes, 8 entries, 3 bits. */
  @Test
  void bitsLieWhereTheDiagramSays() {
    PlaneLayout layout = new PlaneLayout(32, 8, 3);
    byte[] codes = new byte[32 * 8];
    codes[5 * 32 + 18] = 0b101; // entry 5 is bit 2 of quad 1; lane 18 is lane 2 of the second half
    byte[] packed = new byte[layout.bytes()];
    layout.pack(new CodeRoom(), codes, MemorySegment.ofArray(packed), 0);
    int lane = 16 + 8; // lane 2 of a vector lies at byte 2 * 4
    byte[] expected = new byte[layout.bytes()];
    expected[32 + lane] = 0b0000_0100; // quad 1, plane 0 low nibble; plane 1 is zero
    expected[64 + lane] = 0b0100_0000; // plane 2: quad 1 is the high nibble of quads 0 1
    assertThat(packed).isEqualTo(expected);
  }

  @Test
  void theLastTileMayBeHalf() {
    PlaneLayout layout = new PlaneLayout(80, 128, 2);
    assertThat(layout.tiles()).isEqualTo(3);
    assertThat(layout.tileLanes(1)).isEqualTo(32);
    assertThat(layout.tileLanes(2)).isEqualTo(16);
    assertThat(layout.tileOffset(2)).isEqualTo(64 * 32);
  }

  @Test
  void sizesThatDoNotFitAreRefused() {
    assertThatThrownBy(() -> new PlaneLayout(24, 64, 2)).hasMessageContaining("lanes is 24");
    assertThatThrownBy(() -> new PlaneLayout(32, 6, 2)).hasMessageContaining("entries is 6");
    assertThatThrownBy(() -> new PlaneLayout(32, 64, 9)).hasMessageContaining("bits is 9");
  }
}
