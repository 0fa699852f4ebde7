package dev.kvasir.cuda.kernels;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.kvasir.cuda.driver.CudaContext;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.cuda.driver.KernelModule;
import dev.kvasir.cuda.driver.Launch;
import dev.kvasir.cuda.driver.Resources;
import dev.kvasir.model.Activation;
import dev.kvasir.model.ExpertConfig;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.model.Routing;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * The kernels of feed-forward layers with routed experts. A row is multiplied with the weights of
 * the experts that it is routed to, each of which makes a pair. Pairs are ordered by expert, in
 * tiles of eight rows of one expert, so that a tile reads the weights of its expert once. Tiles of
 * a step that no pair uses are skipped on the device, so a step needs no answer from the host and
 * may run in a graph. Each sum of a pair depends on its own row only.
 *
 * <p>A shared expert runs as a dense layer, with the kernels of its weights; its outputs are added
 * last.
 *
 * <p>The arguments of its kernels:
 *
 * <pre>
 * route     0 u64 rows      24 u64 chosen experts   48 u64 correction       64 f32 epsilon   80 u32 used
 *           8 u64 norm      32 u64 weights          56 u64 shared weights   68 f32 scale     84 u32 score
 *          16 u64 router    40 u64 bias                                     72 u32 hidden    88 u32 normalized
 *          92 u32 groups    96 u32 used groups     100 u32 scores per group 76 u32 experts
 * order     0 u64 chosen    16 u64 experts of tiles 24 u32 pairs     32 u32 tiles
 *           8 u64 places                            28 u32 experts
 * gather    0 rows          32 gathered rows        64 u64 places    72 u32 used      76 u32 groups
 * multiply  0 u64 table      8 u64 experts of tiles 16 a product as in {@link DeviceGemm}
 * activate  0 u64 gates      8 u64 biases           16 u64 experts of tiles  24 activations  56 u32 columns
 * combine   0 u64 outputs   16 u64 weights          32 u64 shared outputs    48 u64 biases   64 u32 used
 *           8 u64 places    24 u64 update           40 u64 shared weights    56 u64 chosen   68 u32 hidden
 * </pre>
 */
final class ExpertKernels implements AutoCloseable {
  /** Experts of a layer that its kernels can order. */
  static final int MOST_EXPERTS = DecoderKernels.ROW_THREADS;

  private static final int TILE_ROWS = 8;

  /** Outputs of a thread block of a product. */
  private static final int OUTPUT_STEP = 16;

  /** Codes with a scale of their own. */
  private static final int GROUP = 32;

  private static final int ROUTED_BYTES = 104;
  private static final int ORDER_BYTES = 40;
  private static final int GATHERED_BYTES = 80;
  private static final int PRODUCT_BYTES = 96;
  private static final int BIASED_BYTES = 64;
  private static final int COMBINED_BYTES = 72;

  /** Offset of activations in a product; the kernel sets the weights before it. */
  private static final int ROWS_AT = 40;

  private final CudaStream stream;
  private final ExpertConfig experts;
  private final int hidden;
  private final DecoderKernels kernels;
  private final List<AutoCloseable> owned = new ArrayList<>(); // in order of creation
  private final Launch route;
  private final Launch order;
  private final Launch gather;
  private final Launch activateBiased; // null if experts have no biases
  private final Launch combine;
  private final Map<WeightFormat, Launch> products = new EnumMap<>(WeightFormat.class);
  private final DeviceMemory chosen; // (rows, used) experts
  private final DeviceMemory weights; // (rows, used) of their outputs
  private final DeviceMemory places; // (rows, used) among the ordered pairs
  private final DeviceMemory tileExperts; // by tile
  private final DeviceActivations gathered; // (places, hidden)
  private final DeviceMemory gateAndUp; // (places, 2 * width)
  private final DeviceActivations activated; // (places, width)
  private final DeviceMemory outputs; // (places, hidden)
  private final SharedOutputs shared; // null if no layer has a shared expert

  /**
   * @param kernels activates the gates
   * @param maxRows maximum rows of a step
   */
  ExpertKernels(
      KernelModule module,
      CudaStream stream,
      ModelConfig config,
      List<DeviceWeights.Layer> layers,
      DecoderKernels kernels,
      int maxRows) {
    this.stream = stream;
    this.experts = config.experts().orElseThrow();
    this.hidden = config.hidden();
    this.kernels = kernels;
    this.route =
        new Launch(module.kernel("route_experts"), ROUTED_BYTES).block(DecoderKernels.ROW_THREADS);
    this.order =
        new Launch(module.kernel("order_pairs"), ORDER_BYTES).block(DecoderKernels.ROW_THREADS);
    this.gather =
        new Launch(module.kernel("gather_rows"), GATHERED_BYTES).block(DecoderKernels.PART_THREADS);
    this.activateBiased =
        experts.activation() == Activation.BOUNDED_SILU
            ? new Launch(module.kernel("activate_experts_bounded"), BIASED_BYTES)
                .block(DecoderKernels.PART_THREADS)
            : null;
    this.combine =
        new Launch(module.kernel("combine_experts"), COMBINED_BYTES)
            .block(DecoderKernels.PART_THREADS);
    List<StackedMatrices> all =
        layers.stream()
            .filter(layer -> layer.experts() != null)
            .flatMap(layer -> layer.experts().routed())
            .toList();
    for (StackedMatrices matrix : all) {
      products.computeIfAbsent(
          matrix.parts().getFirst().format(), format -> newProduct(module, format));
    }
    CudaContext context = module.context();
    int pairs = maxRows * experts.used();
    int most = places(maxRows);
    int width = experts.width();
    this.chosen = own(context.allocate((long) pairs * Integer.BYTES));
    this.weights = own(context.allocate((long) pairs * Float.BYTES));
    this.places = own(context.allocate((long) pairs * Integer.BYTES));
    this.tileExperts = own(context.allocate((long) most / TILE_ROWS * Integer.BYTES));
    this.gathered = own(DeviceActivations.of(context, most, hidden, all));
    this.gateAndUp = own(context.allocate(2L * most * width * Float.BYTES));
    this.activated = own(DeviceActivations.of(context, most, width, all));
    this.outputs = own(context.allocate((long) most * hidden * Float.BYTES));
    this.shared =
        experts.sharedWidth() == 0
            ? null
            : own(SharedOutputs.of(context, config, layers, kernels, maxRows));
    setConstants(config);
  }

  private static Launch newProduct(KernelModule module, WeightFormat format) {
    return new Launch(module.kernel("multiply_experts_" + format.kernelName()), PRODUCT_BYTES)
        .block(DecoderKernels.PART_THREADS);
  }

  /** Sets whether kernels start while the previous one ends. */
  void overlap(boolean early) {
    route.programmaticDependent(early);
    order.programmaticDependent(early);
    gather.programmaticDependent(early);
    combine.programmaticDependent(early);
    if (activateBiased != null) {
      activateBiased.programmaticDependent(early);
    }
    products.values().forEach(launch -> launch.programmaticDependent(early));
  }

  private <T extends AutoCloseable> T own(T each) {
    owned.add(each);
    return each;
  }

  private void setConstants(ModelConfig config) {
    Routing routing = experts.routing();
    MemorySegment argument = route.arguments();
    argument.set(JAVA_LONG, 24, chosen.address());
    argument.set(JAVA_LONG, 32, weights.address());
    argument.set(JAVA_LONG, 56, gateWeights());
    argument.set(JAVA_FLOAT, 64, config.normEpsilon());
    argument.set(JAVA_FLOAT, 68, routing.scale());
    argument.set(JAVA_INT, 72, hidden);
    argument.set(JAVA_INT, 76, experts.count());
    argument.set(JAVA_INT, 80, experts.used());
    argument.set(JAVA_INT, 84, score(routing.score()));
    argument.set(JAVA_INT, 88, routing.normalized() ? 1 : 0);
    argument.set(JAVA_INT, 92, routing.groups().count());
    argument.set(JAVA_INT, 96, routing.groups().used());
    argument.set(JAVA_INT, 100, routing.groups().scoresPerGroup());
    argument = order.arguments();
    argument.set(JAVA_LONG, 0, chosen.address());
    argument.set(JAVA_LONG, 8, places.address());
    argument.set(JAVA_LONG, 16, tileExperts.address());
    argument.set(JAVA_INT, 28, experts.count());
    argument = gather.arguments();
    argument.set(JAVA_LONG, 64, places.address());
    argument.set(JAVA_INT, 72, experts.used());
    argument.set(JAVA_INT, 76, hidden / GROUP);
    argument = combine.arguments();
    argument.set(JAVA_LONG, 0, outputs.address());
    argument.set(JAVA_LONG, 8, places.address());
    argument.set(JAVA_LONG, 16, weights.address());
    argument.set(JAVA_LONG, 32, shared == null ? 0 : shared.outputs().address());
    argument.set(JAVA_LONG, 40, gateWeights());
    argument.set(JAVA_LONG, 56, chosen.address());
    argument.set(JAVA_INT, 64, experts.used());
    argument.set(JAVA_INT, 68, hidden);
  }

  /** Returns the address of the weights of the shared expert's outputs; 0 if they are all 1. */
  private long gateWeights() {
    return experts.sharedGate() ? shared.weights().address() : 0;
  }

  /** Returns the number of a score in {@code experts.cuh}. */
  private static int score(Routing.Score score) {
    return switch (score) {
      case LOGIT -> 0;
      case SOFTMAX -> 1;
      case SIGMOID -> 2;
    };
  }

  /**
   * Returns the places of whole tiles for the pairs of some rows. The pairs of each expert may
   * leave one tile partially filled, but there are no more such experts than pairs.
   */
  private int places(int rows) {
    int pairs = rows * experts.used();
    int partial = Math.min(pairs, experts.count());
    return (pairs / TILE_ROWS + partial) * TILE_ROWS;
  }

  /**
   * Runs the experts of a layer.
   *
   * @param x rows before the norm, which the router normalizes on its own, without quantization
   * @param normed the same rows as operands of products
   * @param counts of the rows
   * @param update receives the weighted sums of the experts' outputs // (rows, hidden)
   */
  void run(
      DeviceWeights.Layer layer,
      DeviceMemory x,
      DeviceActivations normed,
      RowCounts counts,
      DeviceMemory update) {
    DeviceExperts of = layer.experts();
    int rows = counts.all();
    int all = places(rows);
    route(layer, x, rows);
    if (shared != null) {
      shared.run(of.shared(), normed, counts);
    }
    gather(normed, rows);
    multiply(of.firstGateAndUp(), of.gateAndUpTable(), gathered, all, gateAndUp);
    activate(of, all);
    multiply(of.firstDown(), of.downTable(), activated, all, outputs);
    MemorySegment argument = combine.arguments();
    argument.set(JAVA_LONG, 24, update.address());
    argument.set(JAVA_LONG, 48, of.biases() == null ? 0 : of.biases().down().address());
    combine.grid(rows, Math.ceilDiv(hidden, DecoderKernels.PART_COLUMNS), 1).on(stream);
  }

  private void activate(DeviceExperts of, int all) {
    if (activateBiased == null) {
      kernels.activate(
          gateAndUp, experts.width(), new RowCounts(0, all), of.down().getFirst(), activated);
      return;
    }
    MemorySegment argument = activateBiased.arguments();
    argument.set(JAVA_LONG, 0, gateAndUp.address());
    argument.set(JAVA_LONG, 8, of.biases().gateAndUp().address());
    argument.set(JAVA_LONG, 16, tileExperts.address());
    activated.set(argument, 24);
    argument.set(JAVA_INT, 56, experts.width());
    activateBiased
        .grid(all, Math.ceilDiv(experts.width(), DecoderKernels.PART_COLUMNS), 1)
        .on(stream);
  }

  /** Selects the experts of rows and orders the pairs. */
  private void route(DeviceWeights.Layer layer, DeviceMemory x, int rows) {
    MemorySegment argument = route.arguments();
    argument.set(JAVA_LONG, 0, x.address());
    argument.set(JAVA_LONG, 8, DeviceMatrix.address(layer.feedForwardNorm()));
    DeviceRouter router = layer.experts().router();
    argument.set(JAVA_LONG, 16, router.weights().address());
    argument.set(JAVA_LONG, 40, DeviceMatrix.address(router.bias()));
    argument.set(JAVA_LONG, 48, DeviceMatrix.address(router.correction()));
    route.grid(rows, 1, 1).on(stream);
    order.arguments().set(JAVA_INT, 24, rows * experts.used());
    order.arguments().set(JAVA_INT, 32, places(rows) / TILE_ROWS);
    order.on(stream);
  }

  /** Copies each row to the places of its pairs. */
  private void gather(DeviceActivations normed, int rows) {
    normed.set(gather.arguments(), 0);
    gathered.set(gather.arguments(), DeviceActivations.BYTES);
    gather.grid(rows * experts.used(), 1, 1).on(stream);
  }

  /**
   * @param any a matrix with the shape and format of all
   * @param count places
   */
  private void multiply(
      DeviceMatrix any, DeviceMemory table, DeviceActivations rows, int count, DeviceMemory out) {
    Launch launch = products.get(any.format());
    MemorySegment argument = launch.arguments();
    argument.set(JAVA_LONG, 0, table.address());
    argument.set(JAVA_LONG, 8, tileExperts.address());
    rows.set(argument, ROWS_AT);
    argument.set(JAVA_LONG, 72, out.address());
    argument.set(JAVA_INT, 80, count);
    argument.set(JAVA_INT, 84, any.columns());
    argument.set(JAVA_INT, 88, any.rows());
    argument.set(JAVA_INT, 92, any.rows()); // the stride
    launch.grid(count / TILE_ROWS, Math.ceilDiv(any.rows(), OUTPUT_STEP), 1).on(stream);
  }

  @Override
  public void close() {
    Resources.closeAll(owned);
  }
}
