package dev.kvasir.format;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** Properties of every quantized type, for any bytes. */
class BlockLayoutPropertyTest {
  private static final byte CODE_CANARY = 99;
  private static final float CANARY = 1e30f;

  @Provide
  Arbitrary<GgmlType> quantized() {
    return Arbitraries.of(GgmlType.class).filter(type -> !type.isFloat());
  }

  @Property(seed = "20260101")
  void aDecodedValueIsScaleTimesCodePlusMinimum(
      @ForAll("quantized") GgmlType type, @ForAll long contents) {
    byte[] block = RandomBlocks.of(type, 1, contents);
    Unpacked unpacked = Unpacked.of(type.layout(), block);
    float[] decoded = new float[type.blockLength()];
    type.decode(MemorySegment.ofArray(block), 0, decoded.length, decoded, 0);
    for (int i = 0; i < decoded.length; i++) {
      int group = i / type.layout().groupLength();
      float scale = unpacked.scales[group];
      float minimum = type.layout().hasMinimums() ? unpacked.minimums[group] : 0;
      assertThat(decoded[i]).isFinite().isEqualTo(scale * unpacked.codes[i] + minimum);
      assertThat(decoded[i]).isEqualTo(Math.fma(scale, unpacked.codes[i], minimum));
    }
  }

  /** A matrix may store the parts of scales instead of floats. */
  @Property(seed = "20260105")
  void scalesEqualTheProductOfTheirParts(
      @ForAll("quantized") GgmlType type, @ForAll long contents) {
    byte[] block = RandomBlocks.of(type, 1, contents);
    MemorySegment source = MemorySegment.ofArray(block);
    BlockLayout layout = type.layout();
    Unpacked unpacked = Unpacked.of(layout, block);
    boolean stored = layout.hasMinimums() && layout.minimumFactor() == 0;
    for (int group = 0; group < layout.groupsPerBlock(); group++) {
      float scale = unpacked.scales[group];
      if (layout.minimumFactor() != 0) {
        assertThat(unpacked.minimums[group]).isEqualTo(layout.minimumFactor() * scale);
      }
      if (layout.scales() == BlockLayout.Scales.HALVES) {
        assertThat(layout.groupLength()).isEqualTo(32);
        assertIsHalf(scale);
        assertIsHalf(stored ? unpacked.minimums[group] : 0);
      }
      assertThat(layout instanceof SuperBlock)
          .isEqualTo(layout.scales() == BlockLayout.Scales.PRODUCTS);
      if (layout instanceof SuperBlock parts) {
        byte factor = (byte) parts.factor(source, 0, group);
        assertThat(scale).isEqualTo(Float.float16ToFloat(parts.half(source, 0)) * factor);
      }
      if (layout instanceof SuperBlock parts && stored) {
        byte factor = (byte) parts.minimumFactor(source, 0, group);
        float half = Float.float16ToFloat(parts.minimumHalf(source, 0));
        assertThat(unpacked.minimums[group]).isEqualTo(half * factor);
      }
    }
  }

  private static void assertIsHalf(float number) {
    assertThat(Float.float16ToFloat(Float.floatToFloat16(number))).isEqualTo(number);
  }

  @Property(seed = "20260102")
  void codesAreThoseOfTheirLayoutForAnyBytes(
      @ForAll("quantized") GgmlType type, @ForAll long contents) {
    byte[] block = new byte[type.blockBytes()];
    new Random(contents).nextBytes(block);
    Unpacked unpacked = Unpacked.of(type.layout(), block);
    for (int i = 0; i < type.blockLength(); i++) {
      switch (type.layout().codes()) {
        case BlockLayout.Codes.Range range ->
            assertThat((int) unpacked.codes[i]).isBetween(range.lowest(), range.highest());
        case BlockLayout.Codes.Levels levels ->
            assertThat(levels.values()).contains(unpacked.codes[i]);
      }
    }
  }

  @Property(tries = 200, seed = "20260104")
  void severalBlocksUnpackLikeSingleOnes(
      @ForAll("quantized") GgmlType type, @ForAll long contents) {
    int blocks = 3;
    byte[] bytes = RandomBlocks.of(type, blocks, contents);
    BlockLayout layout = type.layout();
    int groups = layout.groupsPerBlock();
    byte[] codes = new byte[blocks * layout.blockLength()];
    float[] scales = new float[blocks * groups];
    float[] minimums = layout.hasMinimums() ? new float[blocks * groups] : new float[0];

    layout.unpackAll(bytes, codes, scales, minimums);

    for (int i = 0; i < blocks; i++) {
      int at = i * layout.blockBytes();
      Unpacked alone = Unpacked.of(layout, Arrays.copyOfRange(bytes, at, at + layout.blockBytes()));
      int code = i * layout.blockLength();
      assertThat(Arrays.copyOfRange(codes, code, code + layout.blockLength()))
          .isEqualTo(alone.codes);
      assertThat(Arrays.copyOfRange(scales, i * groups, (i + 1) * groups)).isEqualTo(alone.scales);
      if (layout.hasMinimums()) {
        assertThat(Arrays.copyOfRange(minimums, i * groups, (i + 1) * groups))
            .isEqualTo(alone.minimums);
      }
    }
  }

  @Property(seed = "20260103")
  void unpackingWritesOnlyItsRangeOfTheArrays(
      @ForAll("quantized") GgmlType type, @ForAll long contents) {
    byte[] block = RandomBlocks.of(type, 1, contents);
    BlockLayout layout = type.layout();
    Unpacked alone = Unpacked.of(layout, block);
    byte[] shifted = new byte[block.length + 1];
    System.arraycopy(block, 0, shifted, 1, block.length);
    int length = layout.blockLength();
    int groups = layout.groupsPerBlock();
    byte[] codes = new byte[3 * length];
    float[] scales = new float[3 * groups];
    float[] minimums = new float[3 * groups];
    Arrays.fill(codes, CODE_CANARY);
    Arrays.fill(scales, CANARY);
    Arrays.fill(minimums, CANARY);
    byte[] expectedCodes = codes.clone();
    float[] expectedScales = scales.clone();
    float[] expectedMinimums = minimums.clone();
    System.arraycopy(alone.codes, 0, expectedCodes, length, length);
    System.arraycopy(alone.scales, 0, expectedScales, groups, groups);
    if (layout.hasMinimums()) {
      System.arraycopy(alone.minimums, 0, expectedMinimums, groups, groups);
    }

    layout.unpack(MemorySegment.ofArray(shifted), 1, codes, scales, minimums, 1);

    assertThat(codes).isEqualTo(expectedCodes);
    assertThat(scales).isEqualTo(expectedScales);
    assertThat(minimums).isEqualTo(expectedMinimums);
  }

  private record Unpacked(byte[] codes, float[] scales, float[] minimums) {
    static Unpacked of(BlockLayout layout, byte[] block) {
      byte[] codes = new byte[layout.blockLength()];
      float[] scales = new float[layout.groupsPerBlock()];
      float[] minimums = layout.hasMinimums() ? new float[layout.groupsPerBlock()] : null;
      layout.unpack(MemorySegment.ofArray(block), 0, codes, scales, minimums, 0);
      return new Unpacked(codes, scales, minimums);
    }
  }
}
