package dev.kvasir.cuda.formats;

import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.cuda.driver.CudaGraph;
import dev.kvasir.cuda.driver.DeviceException;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.cuda.driver.DeviceTestCase;
import dev.kvasir.cuda.formats.DeviceBatch.Tokens;
import dev.kvasir.cuda.formats.PagedAttention.Tiling;
import dev.kvasir.cuda.formats.ReferenceAttention.Bounds;
import dev.kvasir.cuda.formats.kivi.KiviFormat;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Attention on a device compared with double precision on the host. */
class PagedAttentionTest extends DeviceTestCase {
  private static final double MOST_ERROR = 3e-3;

  static Stream<Arguments> everyFormatAndHeadDim() {
    return Formats.ALL.stream()
        .flatMap(
            format -> HeadBlocks.HEAD_DIMS.stream().map(headDim -> Arguments.of(format, headDim)));
  }

  @ParameterizedTest
  @MethodSource("everyFormatAndHeadDim")
  void raggedBatchesMatchDoublePrecision(PageFormat format, int headDim) {
    AttentionShape shape = new AttentionShape(8, 2, headDim);
    List<Tokens> sequences =
        List.of(
            tokens(format, 5, 64 * 40, 130),
            tokens(format, 0, 0, 1),
            tokens(format, 0, 64, 0),
            tokens(format, 16, 64 * 3, 17),
            tokens(format, 64, 64 * 100, 64),
            tokens(format, 0, 64 * 7, 33));
    checkError(batch(format, shape, sequences), 1);
  }

  /** Returns the token counts, all of them fp16 if nothing is quantized. */
  private static Tokens tokens(PageFormat format, int sinks, int packed, int recent) {
    return format.isQuantized()
        ? new Tokens(sinks, packed, recent)
        : new Tokens(sinks, 0, packed + recent);
  }

  static Stream<Arguments> everyFormatAndSharing() {
    return Formats.ALL.stream()
        .flatMap(
            format ->
                Stream.of(1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16)
                    .map(sharing -> Arguments.of(format, sharing)));
  }

  @ParameterizedTest
  @MethodSource("everyFormatAndSharing")
  void anyNumberOfQueryHeadsSharesAKvHead(PageFormat format, int sharing) {
    AttentionShape shape = new AttentionShape(3 * sharing, 3, 128);
    List<Tokens> sequences = List.of(tokens(format, 4, 64 * 9, 70), tokens(format, 0, 64 * 30, 5));
    checkError(batch(format, shape, sequences), 1);
  }

  @ParameterizedTest
  @FieldSource("dev.kvasir.cuda.formats.Formats#ALL")
  void wideHeadsSupportManyQueries(PageFormat format) {
    AttentionShape shape = new AttentionShape(12, 2, 256);
    checkError(batch(format, shape, List.of(tokens(format, 4, 64 * 9, 70))), 1);
  }

  /** Errors that grow with the length would not show at a tenth of it. */
  @ParameterizedTest
  @FieldSource("dev.kvasir.cuda.formats.Formats#ALL")
  void errorsStaySmallOverThirtyTwoThousandTokens(PageFormat format) {
    AttentionShape shape = new AttentionShape(32, 8, 128);
    checkError(batch(format, shape, List.of(tokens(format, 16, 32768 - 256, 240))), 1);
  }

  @ParameterizedTest
  @FieldSource("dev.kvasir.cuda.formats.Formats#ALL")
  void fewTokensThatMatterAreFound(PageFormat format) {
    AttentionShape shape = new AttentionShape(8, 2, 128);
    checkError(batch(format, shape, List.of(tokens(format, 5, 64 * 63, 59))), 8);
  }

  @ParameterizedTest
  @FieldSource("dev.kvasir.cuda.formats.Formats#ALL")
  void tilingsAndSplitsAgreeUpToRounding(PageFormat format) {
    AttentionShape shape = new AttentionShape(8, 2, 64);
    DeviceBatch batch =
        batch(format, shape, List.of(tokens(format, 3, 64 * 50, 90), tokens(format, 0, 64, 7)));
    short[] queries = queries(batch, 1);
    double[] wanted = new ReferenceAttention(batch).outputs(queries);
    try (PagedAttention attention = attention(batch)) {
      for (int warps : List.of(1, 2, 4, 8, 16)) {
        for (int stages : List.of(1, 2, 3)) {
          Tiling tiling = new Tiling(warps, stages);
          if (tiling.sharedBytes(format, 64, 1)
              > device.context.device().sharedMemoryBytes() - 4096) {
            continue;
          }
          for (int splits : List.of(1, 2, 7, 40)) {
            attention.plan(batch.table, tiling, new SplitPlan(splits, Math.ceilDiv(60, splits)));
            double error = error(attend(attention, batch, queries, false), wanted);
            assertThat(error).as(attention.describePlan()).isLessThan(MOST_ERROR);
          }
        }
      }
    }
  }

  /** Splits are computed alike by whichever block takes them. */
  @ParameterizedTest
  @FieldSource("dev.kvasir.cuda.formats.Formats#PACKED")
  void divisionOfSplitsAmongBlocksChangesNoBit(PageFormat format) {
    AttentionShape shape = new AttentionShape(12, 3, 128);
    List<Tokens> sequences =
        List.of(
            tokens(format, 5, 64 * 70, 130),
            tokens(format, 0, 0, 9),
            tokens(format, 0, 64 * 12, 0),
            tokens(format, 64, 64 * 200, 64));
    DeviceBatch batch = batch(format, shape, sequences);
    short[] queries = queries(batch, 1);
    try (PagedAttention attention = attention(batch)) {
      attention.plan(batch.table);
      short[] wanted = attend(attention, batch, queries, false);
      PagedAttention.LaunchPlan plan = attention.launchPlan();
      for (int blocks : List.of(1, 2, 5, 17, 40)) {
        attention.plan(batch.table, plan.tiling(), plan.splitPlan(), blocks);
        for (int turn = 0; turn < 3; turn++) { // counters are zero again after each
          assertThat(attend(attention, batch, queries, turn == 1))
              .as("%d blocks", blocks)
              .isEqualTo(wanted);
        }
      }
    }
  }

  @ParameterizedTest
  @FieldSource("dev.kvasir.cuda.formats.Formats#ALL")
  void dependentLaunchAndGraphsChangeNoBit(PageFormat format) {
    AttentionShape shape = new AttentionShape(8, 2, 128);
    DeviceBatch batch = batch(format, shape, List.of(tokens(format, 3, 64 * 200, 90)));
    short[] queries = queries(batch, 1);
    try (PagedAttention attention = attention(batch)) {
      attention.plan(batch.table);
      short[] plain = attend(attention, batch, queries, false);
      assertThat(attend(attention, batch, queries, true)).isEqualTo(plain);
      DeviceMemory from = device.upload(batch.halves(queries));
      DeviceMemory to = device.memory(2L * queries.length);
      try (CudaGraph graph =
          device.stream.capture(
              () -> {
                for (int i = 0; i < 5; i++) {
                  attention.attend(device.stream, from.address(), to.address(), true);
                }
              })) {
        for (int replay = 0; replay < 3; replay++) {
          to.fill(device.stream, (byte) 0xFF);
          graph.launch(device.stream);
          assertThat(shorts(device.download(to))).isEqualTo(plain);
        }
      }
    }
  }

  static Stream<Arguments> everyFormatHeadDimAndWindow() {
    return everyFormatAndHeadDim()
        .flatMap(
            each ->
                Stream.of(1, 20, 64, 333, 100_000)
                    .map(window -> Arguments.of(each.get()[0], each.get()[1], window)));
  }

  @ParameterizedTest
  @MethodSource("everyFormatHeadDimAndWindow")
  void windowsAndSoftCapsMatchDoublePrecision(PageFormat format, int headDim, int window) {
    AttentionShape shape = new AttentionShape(10, 2, headDim);
    int sinks = format.isQuantized() ? 5 : 0; // an fp16 cache has none
    List<Tokens> sequences =
        List.of(
            tokens(format, sinks, 64 * 40, 130),
            tokens(format, sinks, 0, 1),
            tokens(format, sinks, 64, 0),
            tokens(format, sinks, 64 * 3, 17),
            tokens(format, sinks, 64 * 100, 64));
    checkError(batch(format, shape, sequences), 1, new Bounds(window, 0));
    checkError(batch(format, shape, sequences), 2, new Bounds(window, 1.5));
  }

  @Test
  void unsupportedHeadsAreRejected() {
    assertThatThrownBy(() -> attention(new KiviFormat(2), new AttentionShape(8, 2, 80), 1))
        .isInstanceOf(DeviceException.class)
        .hasMessageContaining("keys of 80 channels")
        .hasMessageContaining("[64, 96, 128, 256]");
  }

  private DeviceBatch batch(PageFormat format, AttentionShape shape, List<Tokens> sequences) {
    return new DeviceBatch(device, format, shape, sequences, 11).quantized(32, 32);
  }

  private PagedAttention attention(DeviceBatch batch) {
    return attention(batch.format(), batch.shape(), batch.sequences().size());
  }

  private PagedAttention attention(PageFormat format, AttentionShape shape, int sequences) {
    return new PagedAttention(device.module, device.stream, format, shape, sequences);
  }

  private static short[] queries(DeviceBatch batch, double spread) {
    AttentionShape shape = batch.shape();
    Random random = new Random(5);
    short[] queries = new short[batch.sequences().size() * shape.queryHeads() * shape.headDim()];
    for (int i = 0; i < queries.length; i++) {
      queries[i] = Float.floatToFloat16((float) (spread * random.nextGaussian()));
    }
    return queries;
  }

  private void checkError(DeviceBatch batch, double spread) {
    checkError(batch, spread, Bounds.NONE);
  }

  private void checkError(DeviceBatch batch, double spread, Bounds bounds) {
    short[] queries = queries(batch, spread);
    double[] wanted = new ReferenceAttention(batch, bounds).outputs(queries);
    AttentionLimits limits =
        bounds.equals(Bounds.NONE)
            ? AttentionLimits.NONE
            : new AttentionLimits(
                List.of(bounds.window()),
                (float) bounds.cap(),
                batch.sequences().getFirst().sinks());
    try (PagedAttention attention =
        new PagedAttention(
            device.module,
            device.stream,
            batch.format(),
            batch.shape(),
            batch.sequences().size(),
            limits)) {
      attention.plan(batch.table);
      for (boolean early : List.of(false, true)) {
        double error = error(attend(attention, batch, queries, early), wanted);
        System.out.printf(
            "%s, %d heads on %d of %d: error %.2e%n",
            attention.describePlan(),
            batch.shape().queryHeads(),
            batch.shape().kvHeads(),
            batch.shape().headDim(),
            error);
        assertThat(error).as(attention.describePlan()).isLessThan(MOST_ERROR);
      }
    }
  }

  private short[] attend(
      PagedAttention attention, DeviceBatch batch, short[] queries, boolean early) {
    DeviceMemory from = device.upload(batch.halves(queries));
    DeviceMemory to = device.memory(2L * queries.length);
    to.fill(device.stream, (byte) 0xFF);
    attention.attend(device.stream, from.address(), to.address(), early);
    return shorts(device.download(to));
  }

  private static short[] shorts(MemorySegment segment) {
    return segment.toArray(JAVA_SHORT);
  }

  /** Returns the error of all heads together; NaN counts as a large error. */
  private static double error(short[] outputs, double[] wanted) {
    double difference = 0;
    double norm = 0;
    for (int i = 0; i < wanted.length; i++) {
      double each = Float.float16ToFloat(outputs[i]) - wanted[i];
      difference += each * each;
      norm += wanted[i] * wanted[i];
    }
    return Math.sqrt(difference / norm);
  }
}
