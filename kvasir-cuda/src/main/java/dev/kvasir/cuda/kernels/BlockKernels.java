package dev.kvasir.cuda.kernels;

import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.cuda.driver.KernelModule;
import dev.kvasir.cuda.driver.Launch;
import dev.kvasir.model.ModelConfig;
import java.util.Set;

/**
 * The kernels for weights in blocks: products, and conversions of activations to their operands.
 * Requires compute capability 9.0.
 */
final class BlockKernels implements AutoCloseable {
  private final CudaStream stream;
  private final Launch normalize;
  private final Launch activate;
  private final Launch convertHalves;
  private final BlockGemm gemm;
  private final BlockGemv gemv;

  BlockKernels(
      KernelModule module, CudaStream stream, ModelConfig config, Set<WeightFormat> formats) {
    this.stream = stream;
    this.normalize =
        new Launch(module.kernel("normalize_to_blocks"), 8, 8, 8, 4, 4, 8, BlockOperands.BYTES)
            .block(DecoderKernels.ROW_THREADS)
            .argument(3, Float.floatToRawIntBits(config.normEpsilon()))
            .argument(4, config.hidden());
    this.activate =
        partLaunch(
            module, DecoderKernels.gateKernel(config.architecture().activation()) + "_to_blocks");
    this.convertHalves = partLaunch(module, "halves_to_blocks");
    this.gemm = new BlockGemm(module, stream, formats);
    this.gemv = new BlockGemv(module, stream, formats);
  }

  private static Launch partLaunch(KernelModule module, String name) {
    return new Launch(module.kernel(name), 8, 4, BlockOperands.BYTES)
        .block(DecoderKernels.PART_THREADS);
  }

  /** Sets whether kernels start while the previous one ends. Products of a few rows always do. */
  void overlap(boolean early) {
    normalize.programmaticDependent(early);
    activate.programmaticDependent(early);
    convertHalves.programmaticDependent(early);
    gemm.overlap(early);
  }

  /**
   * @param update added to {@code x} first; null for none
   * @param weight null to write rows as they are
   * @param rowOf device address of row indices; 0 for all rows
   */
  void normalize(
      DeviceMemory x,
      DeviceMemory update,
      DeviceMemory weight,
      RowCounts rows,
      long rowOf,
      BlockOperands out) {
    normalize
        .grid(rows.all(), 1, 1)
        .argument(0, x.address())
        .argument(1, DeviceMatrix.address(update))
        .argument(2, DeviceMatrix.address(weight))
        .argument(5, rowOf);
    out.set(normalize, 6, rows);
    normalize.on(stream);
  }

  void activate(DeviceMemory gateAndUp, int columns, RowCounts rows, BlockOperands out) {
    convert(activate, gateAndUp, columns, rows, out);
  }

  void convertHalves(DeviceMemory x, int columns, RowCounts rows, BlockOperands out) {
    convert(convertHalves, x, columns, rows, out);
  }

  private void convert(
      Launch launch, DeviceMemory from, int columns, RowCounts rows, BlockOperands out) {
    launch
        .grid(rows.all(), DecoderKernels.blocksOfRow(columns, 2, rows.all()), 1)
        .argument(0, from.address())
        .argument(1, columns);
    out.set(launch, 2, rows);
    launch.on(stream);
  }

  /**
   * @param to device address of the first output
   */
  void multiply(DeviceMatrix matrix, BlockOperands operands, RowCounts rows, long to, int stride) {
    int generated = rows.generated();
    if (generated > 0 && BlockGemv.takes(rows)) {
      gemv.multiply(matrix, operands, generated, to, stride);
    } else if (generated > 0) {
      gemm.multiplyGenerated(matrix, operands, generated, to, stride);
    }
    if (rows.prompt() > 0) {
      long first = to + (long) generated * stride * Float.BYTES;
      gemm.multiplyPrompt(matrix, operands, generated, rows.prompt(), first, stride);
    }
  }

  @Override
  public void close() {
    gemm.close();
  }
}
