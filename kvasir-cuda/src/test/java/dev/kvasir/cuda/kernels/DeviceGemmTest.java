package dev.kvasir.cuda.kernels;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.cuda.driver.DeviceTestCase;
import dev.kvasir.cuda.kernels.DeviceMatrix.RandomTensor;
import dev.kvasir.format.GgmlType;
import dev.kvasir.format.GgufFile;
import dev.kvasir.format.Tensor;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.runtime.BundledFiles;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Products of quantized activations with weights of every type, and embedding rows, compared with
 * double precision.
 */
class DeviceGemmTest extends DeviceTestCase {
  private static final int COLUMNS = 768; // three groups of columns per warp

  /** Enough that thread blocks share the parts of a tile. */
  private static final int MANY_COLUMNS = 17 * WeightBlocks.COLUMNS;

  /**
   * Operands are those of the device bit by bit, so only sums round: integer sums match the host,
   * and sums of halves are floats. A code off by one shows: it is 5e-4 of the length or more.
   */
  private static final double EXACT = 1e-4;

  static Stream<Arguments> products() {
    return WeightTilesTest.types()
        .flatMap(
            type ->
                Stream.concat(
                    Stream.of(1, 8, 13, 32, 75).map(count -> Arguments.of(type, count, 80)),
                    // Enough outputs that a block takes two tiles of them.
                    Stream.of(13, 32).map(count -> Arguments.of(type, count, 5000))));
  }

  @ParameterizedTest
  @MethodSource("products")
  void productsMatchDequantizedOperands(GgmlType type, int count, int outputs) {
    Tensor tensor = RandomTensor.of(type, outputs, COLUMNS, 5);
    WeightFormat format = format(type, COLUMNS);
    WeightFormat bytes = format(GgmlType.Q8_0, COLUMNS);
    // The second part follows the first in every row.
    Tensor other = RandomTensor.of(GgmlType.Q8_0, 48, COLUMNS, 6);
    StackedMatrices stack =
        device.own(
            new StackedMatrices(
                List.of(
                    DeviceMatrix.of(device.context, device.stream, format, List.of(tensor)),
                    DeviceMatrix.of(device.context, device.stream, bytes, List.of(other)))));
    DecoderKernels kernels = launches(stack);
    DeviceActivations rows =
        device.own(DeviceActivations.of(device.context, count, COLUMNS, List.of(stack)));
    float[] x = new float[count * COLUMNS];
    DeviceMemory halves = random(x);
    Wanted first = Wanted.of(operands(format, x), tensor, format);
    Wanted second = Wanted.of(operands(bytes, x), other, bytes);
    for (int generated : new int[] {0, count / 2, count}) {
      RowCounts counts = new RowCounts(generated, count);
      kernels.convertHalves(halves, COLUMNS, counts, stack, rows);
      DeviceMemory out = device.memory(4L * count * stack.rows());
      kernels.multiply(stack, rows, counts, out);
      MemorySegment found = device.download(out);
      first.check(found, 0, stack.rows());
      second.check(found, outputs, stack.rows());
    }
  }

  /** Every number of rows takes another kernel or tile; the bits of a row stay the same. */
  @ParameterizedTest
  @EnumSource(names = {"Q8_0", "Q4_0", "Q4_1", "Q4_K", "Q5_K", "Q6_K", "F16"})
  void rowsDoNotDependOnOtherRows(GgmlType type) {
    int all = 300;
    Tensor tensor = RandomTensor.of(type, 4000, MANY_COLUMNS, 5);
    StackedMatrices stack =
        device.own(
            new StackedMatrices(
                List.of(
                    DeviceMatrix.of(
                        device.context,
                        device.stream,
                        format(type, MANY_COLUMNS),
                        List.of(tensor)))));
    DecoderKernels kernels = launches(stack);
    DeviceActivations rows =
        device.own(DeviceActivations.of(device.context, all, MANY_COLUMNS, List.of(stack)));
    DeviceMemory halves = random(new float[all * MANY_COLUMNS]);
    DeviceMemory out = device.memory(4L * all * stack.rows());
    for (boolean generated : new boolean[] {false, true}) {
      MemorySegment wanted = null;
      for (int count : new int[] {all, 1, 8, 9, 16, 17, 60, 130, 257}) {
        RowCounts counts = new RowCounts(generated ? count : 0, count);
        kernels.convertHalves(halves, MANY_COLUMNS, counts, stack, rows);
        kernels.multiply(stack, rows, counts, out);
        MemorySegment found = device.download(out);
        wanted = wanted == null ? found : wanted;
        long bytes = 4L * count * stack.rows();
        assertThat(found.asSlice(0, bytes).mismatch(wanted.asSlice(0, bytes)))
            .as("%d rows, generated: %s", count, generated)
            .isEqualTo(-1);
      }
    }
  }

  private WeightFormat format(GgmlType type, int columns) {
    boolean blocks =
        device.context.device().hasWarpgroupProducts() && columns % WeightBlocks.COLUMNS == 0;
    Optional<WeightFormat> blocked = blocks ? WeightFormat.blocked(type) : Optional.empty();
    return blocked.or(() -> WeightFormat.of(type)).orElseThrow();
  }

  /** Returns the numbers that a product with weights of a format multiplies. */
  private static float[] operands(WeightFormat format, float[] x) {
    return format.isBlocked() || format == WeightFormat.HALVES ? x : dequantized(x);
  }

  /** Returns the dequantized activations of the host. */
  private static float[] dequantized(float[] x) {
    dev.kvasir.kernel.QuantizedActivations activations =
        new dev.kvasir.kernel.QuantizedActivations();
    int count = x.length / COLUMNS;
    activations.begin(count, COLUMNS);
    for (int row = 0; row < count; row++) {
      activations.quantize(row, x, row * COLUMNS);
    }
    float[] meant = new float[x.length];
    for (int i = 0; i < x.length; i++) {
      meant[i] =
          activations.scales()[i / dev.kvasir.kernel.QuantizedActivations.GROUP]
              * activations.codes()[i];
    }
    return meant;
  }

  private DecoderKernels launches(StackedMatrices stack) {
    Set<WeightFormat> formats =
        stack.parts().stream().map(DeviceMatrix::format).collect(Collectors.toSet());
    try (GgufFile file = BundledFiles.open()) {
      ModelConfig config = ModelConfig.of(file);
      return device.own(new DecoderKernels(device.module, device.stream, config, formats));
    }
  }

  /** Uploads random halves and returns their values in {@code x}. */
  private DeviceMemory random(float[] x) {
    Random random = new Random(9);
    MemorySegment halves = device.host(2L * x.length);
    for (int i = 0; i < x.length; i++) {
      short half = Float.floatToFloat16((float) random.nextGaussian());
      halves.setAtIndex(JAVA_SHORT, i, half);
      x[i] = Float.float16ToFloat(half);
    }
    return device.upload(halves);
  }

  /**
   * Products in double precision, and the lengths of their terms. // (rows, outputs)
   *
   * @param bound maximum error relative to the length
   */
  private record Wanted(double[] sums, double[] lengths, int outputs, double bound) {
    static Wanted of(float[] x, Tensor tensor, WeightFormat format) {
      float[] weights =
          format.isBlocked() ? BlockWeights.asHalves(tensor, format) : tensor.toFloats();
      int outputs = (int) tensor.shape()[0];
      double[] sums = new double[x.length / COLUMNS * outputs];
      double[] lengths = new double[sums.length];
      IntStream.range(0, sums.length)
          .parallel()
          .forEach(
              i -> {
                double sum = 0;
                double squares = 0;
                for (int c = 0; c < COLUMNS; c++) {
                  double each =
                      (double) weights[i % outputs * COLUMNS + c] * x[i / outputs * COLUMNS + c];
                  sum += each;
                  squares += each * each;
                }
                sums[i] = sum;
                lengths[i] = Math.sqrt(squares);
              });
      return new Wanted(sums, lengths, outputs, format == WeightFormat.HALVES ? 1e-2 : EXACT);
    }

    void check(MemorySegment found, int first, int stride) {
      double most = 0;
      for (int i = 0; i < sums.length; i++) {
        long at = (long) (i / outputs) * stride + first + i % outputs;
        most = Math.max(most, Math.abs(found.getAtIndex(JAVA_FLOAT, at) - sums[i]) / lengths[i]);
      }
      assertThat(most).isLessThan(bound); // also fails for NaN
    }
  }

  @ParameterizedTest
  @MethodSource("dev.kvasir.cuda.kernels.WeightTilesTest#types")
  void embeddingRowsAreDequantized(GgmlType type) {
    int hidden = 512;
    Tensor tensor = RandomTensor.of(type, 80, hidden, 5);
    WeightFormat format = format(type, hidden);
    StackedMatrices stack =
        device.own(
            new StackedMatrices(
                List.of(DeviceMatrix.of(device.context, device.stream, format, List.of(tensor)))));
    int[] tokens = {3, 79, 17};
    MemorySegment typed = device.host(12);
    MemorySegment.copy(tokens, 0, typed, JAVA_INT, 0, 3);
    DeviceMemory x = device.memory(3L * 4 * hidden);
    launches(stack).embed(stack, device.upload(typed).address(), 3, x);
    MemorySegment found = device.download(x);
    float[] weights = tensor.toFloats();
    for (int i = 0; i < 3 * hidden; i++) {
      float wanted = weights[tokens[i / hidden] * hidden + i % hidden];
      float bound = type == GgmlType.F32 ? 0x1p-12f : 1e-6f; // rounded to halves
      assertThat(Math.abs(found.getAtIndex(JAVA_FLOAT, i) - wanted)).isLessThan(bound);
    }
  }
}
