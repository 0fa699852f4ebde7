package dev.kvasir.cuda.formats.mixkvq;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.codec.mixkvq.Thresholds;
import dev.kvasir.codec.mixkvq.Tiers;
import dev.kvasir.cuda.memory.Fp16Page;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashSet;
import java.util.Set;
import java.util.function.IntUnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every bit of the tiers' channels belongs to one element. */
class MixkvqPageTest {
  private static final int TOKENS = Fp16Page.TOKENS;

  /** Returns the bits of a piece that affect what a function reads. */
  private static Set<Integer> bitsOf(MemorySegment piece, IntUnaryOperator reading) {
    byte[] bytes = new byte[(int) piece.byteSize()];
    Set<Integer> found = new HashSet<>();
    for (int bit = 0; bit < 8 * bytes.length; bit++) {
      bytes[bit / 8] = (byte) (1 << bit % 8);
      piece.copyFrom(MemorySegment.ofArray(bytes));
      if (reading.applyAsInt(0) != 0) {
        found.add(bit);
      }
      bytes[bit / 8] = 0;
    }
    return found;
  }

  @Test
  void sixteenChannelsOfFourBitsFillAStep() {
    MemorySegment step = MemorySegment.ofArray(new byte[MixkvqPage.STEP_BYTES]);
    Set<Integer> taken = new HashSet<>();
    int bits = 0;
    for (int place = 0; place < MixkvqPage.STEP; place += 5) { // all fields, quads and halves
      int its = place;
      for (int token : new int[] {0, 13, 31, 32, 50, 63}) {
        Set<Integer> code = bitsOf(step, any -> MixkvqPageReader.midCode(step, token, its));
        assertThat(code).hasSize(4);
        bits += 4;
        taken.addAll(code);
      }
      for (int token : new int[] {0, 32}) {
        taken.addAll(bitsOf(step, any -> MixkvqPageReader.midScale(step, token, its)));
        taken.addAll(bitsOf(step, any -> MixkvqPageReader.midZero(step, token, its)));
        bits += 32;
      }
      assertThat(MixkvqPageReader.midScale(step, 31, its))
          .isEqualTo(MixkvqPageReader.midScale(step, 0, its));
    }
    assertThat(taken).hasSize(bits);
  }

  @Test
  void bf16ChannelsFollowTheSteps() {
    MemorySegment piece = MemorySegment.ofArray(new byte[MixkvqPage.wideBytes(5, 2)]);
    Set<Integer> taken = new HashSet<>();
    for (int token = 0; token < TOKENS; token++) {
      int its = token;
      taken.addAll(bitsOf(piece, any -> MixkvqPageReader.bf16(piece, 5, its, 1)));
    }
    assertThat(taken).hasSize(16 * TOKENS);
    assertThat(taken.stream().min(Integer::compare).orElseThrow())
        .isEqualTo(8 * (MixkvqPage.STEP_BYTES + MixkvqPage.BF16_BYTES));
    assertThat(taken.stream().max(Integer::compare).orElseThrow())
        .isEqualTo(8 * (int) piece.byteSize() - 1);
  }

  @ParameterizedTest
  @CsvSource({"64, 3200", "128, 6336"})
  void aPageHasAHeaderBetweenKeysAndValues(int headDim, int bytes) {
    MixkvqPage page = new MixkvqPage(headDim);
    assertThat(page.bytes()).isEqualTo(bytes);
    assertThat(page.bytes() % TOKENS).isZero();
    assertThat(page.headerBytes())
        .isGreaterThanOrEqualTo(MixkvqPageReader.CHANNELS_AT + headDim + MixkvqPage.STEP);
  }

  @Test
  void tierAssignmentsMatchThePageHeader() {
    float[] salience = new float[64];
    for (int i = 0; i < 64; i++) {
      salience[i] = i % 8; // eight of each
    }
    Tiers tiers = Tiers.of(salience, 0, 64, new Thresholds(6.5f, 3.5f));
    assertThat(tiers.high()).isEqualTo(8);
    assertThat(tiers.mid()).isEqualTo(24);
    TierAssignments plans = new TierAssignments(3, 64, 2);
    plans.setTiers(1, 2, tiers);
    plans.setAddress(1, 2, 1, 0x1234_5678_9ABCL);
    int at = 5 * TierAssignments.headLongs(64);
    assertThat(plans.longs()[at]).isZero();
    assertThat(plans.longs()[at + 1]).isEqualTo(0x1234_5678_9ABCL);
    assertThat(plans.longs()[at + 2]).isEqualTo(24 | 8L << 32);
    MemorySegment channels = MemorySegment.ofArray(plans.longs()).asSlice(8L * (at + 3));
    byte[] listed = channels.toArray(ValueLayout.JAVA_BYTE);
    assertThat(listed).hasSize(64 + 16);
    assertThat(listed).startsWith(4, 5, 6, 12, 13, 14);
    for (int i = 24; i < 32; i++) {
      assertThat(listed[i]).as("no channel").isZero();
    }
    assertThat(new byte[] {listed[32], listed[39]}).containsExactly(7, 63);
  }
}
