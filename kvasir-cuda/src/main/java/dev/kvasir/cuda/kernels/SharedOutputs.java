package dev.kvasir.cuda.kernels;

import dev.kvasir.cuda.driver.CudaContext;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.cuda.driver.Resources;
import dev.kvasir.model.ModelConfig;
import java.util.List;
import java.util.Objects;

/**
 * Runs the shared experts of layers and keeps their outputs until they are added to those of the
 * routed experts.
 *
 * @param kernels multiply and activate
 * @param width of the feed-forward part
 * @param gateAndUp // (rows, 2 * width)
 * @param activated // (rows, width)
 * @param outputs // (rows, hidden)
 * @param weights of outputs, written with the choice of experts // (rows)
 */
record SharedOutputs(
    DecoderKernels kernels,
    int width,
    DeviceMemory gateAndUp,
    DeviceActivations activated,
    DeviceMemory outputs,
    DeviceMemory weights)
    implements AutoCloseable {
  static SharedOutputs of(
      CudaContext context,
      ModelConfig config,
      List<DeviceWeights.Layer> layers,
      DecoderKernels kernels,
      int maxRows) {
    int width = config.experts().orElseThrow().sharedWidth();
    List<StackedMatrices> downs =
        layers.stream()
            .map(DeviceWeights.Layer::experts)
            .filter(Objects::nonNull)
            .map(experts -> experts.shared().down())
            .toList();
    return new SharedOutputs(
        kernels,
        width,
        context.allocate(2L * maxRows * width * Float.BYTES),
        DeviceActivations.of(context, maxRows, width, downs),
        context.allocate((long) maxRows * config.hidden() * Float.BYTES),
        context.allocate((long) maxRows * Float.BYTES));
  }

  /**
   * @param normed rows as operands of products
   */
  void run(SharedExpert expert, DeviceActivations normed, RowCounts rows) {
    kernels.multiply(expert.gateAndUp(), normed, rows, gateAndUp);
    kernels.activate(gateAndUp, width, rows, expert.down(), activated);
    kernels.multiply(expert.down(), activated, rows, outputs);
  }

  @Override
  public void close() {
    Resources.closeAll(gateAndUp, activated, outputs, weights);
  }
}
