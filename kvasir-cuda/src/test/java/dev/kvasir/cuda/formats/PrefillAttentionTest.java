package dev.kvasir.cuda.formats;

import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.cuda.driver.DeviceTestCase;
import dev.kvasir.cuda.formats.DeviceBatch.Tokens;
import dev.kvasir.cuda.formats.ReferenceAttention.Bounds;
import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.cuda.memory.LayerOffsets;
import dev.kvasir.cuda.memory.PrefillChunks;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Attention of prompt rows compared with double precision. */
class PrefillAttentionTest extends DeviceTestCase {
  /** Relative to the norm of the outputs. */
  private static final double MAX_ERROR = 3e-3;

  static Stream<Arguments> everyFormatAndWidth() {
    return Formats.READ_BY_PROMPTS.stream()
        .flatMap(
            format -> HeadBlocks.HEAD_DIMS.stream().map(headDim -> Arguments.of(format, headDim)));
  }

  @ParameterizedTest
  @MethodSource("everyFormatAndWidth")
  void everyRowAttendsUpToItself(PageFormat format, int headDim) {
    AttentionShape shape = new AttentionShape(8, 2, headDim);
    check(format, shape, new Tokens(0, 0, 75), 75);
    check(format, shape, new Tokens(0, 0, 200), 130);
    check(format, shape, new Tokens(0, 64 * 6, 256 + 131), 256);
    check(format, shape, new Tokens(0, 64 * 2, 17), 16);
  }

  /** Sinks have their own partially filled pages, and rows may be among them. */
  @ParameterizedTest
  @FieldSource("dev.kvasir.cuda.formats.Formats#OWN")
  void sinksAreAttended(PageFormat format) {
    AttentionShape shape = new AttentionShape(8, 2, 64);
    check(format, shape, new Tokens(16, 0, 84), 100);
    check(format, shape, new Tokens(16, 64 * 4, 200), 90);
    check(format, shape, new Tokens(70, 64 * 2, 70), 70);
    check(format, shape, new Tokens(130, 0, 0), 130);
  }

  static Stream<Arguments> everyFormatAndSharing() {
    return Formats.READ_BY_PROMPTS.stream()
        .flatMap(format -> Stream.of(1, 3, 5, 7, 16).map(sharing -> Arguments.of(format, sharing)));
  }

  @ParameterizedTest
  @MethodSource("everyFormatAndSharing")
  void anyNumberOfQueryHeadsSharesAKvHead(PageFormat format, int sharing) {
    check(format, new AttentionShape(3 * sharing, 3, 128), new Tokens(0, 64 * 4, 100), 50);
  }

  static Stream<Arguments> everyFormatHeadDimAndWindow() {
    return Formats.READ_BY_PROMPTS.stream()
        .filter(PageFormat::attendsWithLimits)
        .flatMap(
            format ->
                HeadBlocks.HEAD_DIMS.stream()
                    .flatMap(
                        headDim ->
                            Stream.of(1, 3, 64, 100, 300, 100_000)
                                .map(window -> Arguments.of(format, headDim, window))));
  }

  @ParameterizedTest
  @MethodSource("everyFormatHeadDimAndWindow")
  void windowsAndSoftCapsMatchDoublePrecision(PageFormat format, int headDim, int window) {
    AttentionShape shape = new AttentionShape(6, 2, headDim);
    check(format, shape, new Tokens(5, 64 * 6, 200), 190, new Bounds(window, 0));
    check(format, shape, new Tokens(0, 64 * 2, 64), 64, new Bounds(window, 2));
    check(format, shape, new Tokens(70, 0, 40), 110, new Bounds(window, 0.5));
  }

  private void check(PageFormat format, AttentionShape shape, Tokens wantedTokens, int rows) {
    check(format, shape, wantedTokens, rows, Bounds.NONE);
  }

  /**
   * @param rows the last rows, none of them quantized
   */
  private void check(
      PageFormat format, AttentionShape shape, Tokens wantedTokens, int rows, Bounds bounds) {
    Tokens tokens = format.isQuantized() ? wantedTokens : Tokens.halves(wantedTokens.count());
    DeviceBatch batch =
        new DeviceBatch(device, format, shape, List.of(tokens), 3).quantized(32, 32);
    short[] queries = new short[rows * shape.queryHeads() * shape.headDim()];
    Random random = new Random(4);
    for (int i = 0; i < queries.length; i++) {
      queries[i] = Float.floatToFloat16((float) random.nextGaussian());
    }
    PrefillChunks chunks = device.own(new PrefillChunks(device.context, 1));
    int packedPages = tokens.packed() / Fp16Page.TOKENS;
    chunks.add(0, rows, tokens.count() - rows, 0, packedPages, tokens.sinks(), 0);
    chunks.upload(device.stream);
    DeviceMemory out = device.memory(2L * queries.length);
    AttentionLimits limits =
        bounds.equals(Bounds.NONE)
            ? AttentionLimits.NONE
            : new AttentionLimits(List.of(bounds.window()), (float) bounds.cap(), tokens.sinks());
    PrefillAttention attention =
        PrefillAttention.of(device.module, format, shape, limits).orElseThrow();
    attention.attend(
        device.stream,
        chunks,
        attention.blocks(rows),
        batch.table,
        LayerOffsets.FIRST,
        device.upload(batch.halves(queries)),
        out,
        0);
    double[] wanted = new ReferenceAttention(batch, bounds).outputsOfLast(rows, queries);
    assertThat(error(device.download(out), wanted))
        .as("%s, %d heads of %d, %s", format, shape.queryHeads(), shape.headDim(), tokens)
        .isLessThan(MAX_ERROR);
  }

  private static double error(MemorySegment found, double[] wanted) {
    double off = 0;
    double length = 0;
    for (int i = 0; i < wanted.length; i++) {
      double difference = Float.float16ToFloat(found.getAtIndex(JAVA_SHORT, i)) - wanted[i];
      off += difference * difference;
      length += wanted[i] * wanted[i];
    }
    return Math.sqrt(off / length);
  }
}
