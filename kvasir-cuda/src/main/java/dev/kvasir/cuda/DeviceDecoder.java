package dev.kvasir.cuda;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.kvasir.cuda.DecoderLaunches.CodedRows;
import dev.kvasir.format.TensorSource;
import dev.kvasir.model.ModelConfig;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;

/**
 * A decoder whose weights and pages lie on a device: a step of up to some rows runs there whole.
 * Steps of one shape are recorded once and done again as a graph; what changes from step to step,
 * tokens, positions and pages, is brought there before.
 *
 * <p>A row attends to what its sequence holds when it is added. Several rows of a sequence in one
 * step, a part of a prompt, see each other as they should: each is a sequence of its own to
 * attention, with the same pages and another end.
 *
 * <p>Products are the host's sums of integers, and packing has the host's bits; what differs is the
 * order of float sums and halves where queries and outputs of attention go through memory.
 */
public final class DeviceDecoder implements AutoCloseable {
  /** Numbers that share a scale, as in {@code kivi:BITS,group=32}. */
  private static final int GROUP = 32;

  /** Inputs of a row: its place, its token and its position. */
  private static final int INPUT_BYTES = 16;

  /**
   * @param rows of a step at the most
   * @param sequences at the most
   * @param tokens of all sequences together
   * @param window of tokens that stay halves
   */
  public record Limits(int rows, int sequences, int tokens, int window) {
    /** Every sequence may have begun a page. */
    int pages() {
      return Math.ceilDiv(tokens, HalfPage.TOKENS) + sequences;
    }

    /** Pages of halves beside packed ones: the window, a block behind it, a step before it. */
    int halfPages() {
      int tokensOfEach = window + DeviceSequence.BLOCK_PAGES * HalfPage.TOKENS + rows;
      return sequences * (Math.ceilDiv(tokensOfEach, HalfPage.TOKENS) + 1);
    }
  }

  private final ModelConfig config;
  private final PageFormat format;
  private final Limits limits;
  private final Context context;
  private final KernelModule module;
  private final Stream stream;
  private final List<AutoCloseable> taken; // in the order in which it was
  private final Arena arena = Arena.ofShared();
  private final DeviceWeights weights;
  private final DecoderLaunches launches;
  private final RowStore store;
  private final PagedAttention attention;
  private final PageTable table;
  private final PagePool halfPages;
  private final PagePool packedPages; // null where nothing is packed

  private final DeviceMemory x; // (rows, hidden), the residual stream
  private final DeviceMemory update; // (rows, hidden)
  private final DeviceMemory projected; // (rows, heads, headDim) of queries, keys and values
  private final DeviceMemory queries; // (rows, queryHeads, headDim) halves
  private final DeviceMemory mixed; // the same
  private final DeviceMemory gateAndUp; // (rows, 2 * feedForward)
  private final DeviceMemory logits; // (rows, vocabulary)
  private final DeviceMemory likeliest; // (rows)
  private final CodedRows narrow; // (rows, hidden), or of a head's outputs
  private final CodedRows wide; // (rows, feedForward)

  private final MemorySegment inputs;
  private final DeviceMemory deviceInputs;
  private final MemorySegment packings;
  private final DeviceMemory devicePackings;
  private final MemorySegment hostLogits;
  private final long[] pair = new long[2 * DeviceSequence.BLOCK_PAGES];

  private Graph graph;
  private int graphRows;
  private int graphPlan;

  /**
   * @param file GGUF, which is not needed any more afterwards
   * @throws DeviceRefusal if there is not as much memory as it takes; none is taken then
   */
  public static DeviceDecoder open(
      Device device, TensorSource file, ModelConfig config, PageFormat format, Limits limits) {
    return open(
        device,
        config,
        format,
        limits,
        (context, stream) -> DeviceWeights.of(context, stream, file, config));
  }

  /** One with random weights and pages of any content, to measure with. */
  public static DeviceDecoder random(
      Device device, ModelConfig config, PageFormat format, Limits limits) {
    DeviceDecoder decoder =
        open(
            device,
            config,
            format,
            limits,
            (context, stream) -> DeviceWeights.random(context, stream, config));
    decoder.halfPages.scramble(decoder.stream);
    if (decoder.packedPages != null) {
      decoder.packedPages.scramble(decoder.stream);
    }
    return decoder;
  }

  private static DeviceDecoder open(
      Device device,
      ModelConfig config,
      PageFormat format,
      Limits limits,
      BiFunction<Context, Stream, DeviceWeights> loader) {
    List<AutoCloseable> taken = new ArrayList<>();
    try {
      return new DeviceDecoder(taken, device, config, format, limits, loader);
    } catch (RuntimeException | Error e) {
      close(taken);
      throw e;
    }
  }

  private DeviceDecoder(
      List<AutoCloseable> taken,
      Device device,
      ModelConfig config,
      PageFormat format,
      Limits limits,
      BiFunction<Context, Stream, DeviceWeights> loader) {
    this.taken = taken;
    this.config = config;
    this.format = format;
    this.limits = limits;
    this.context = keep(Context.open(device));
    this.module = keep(KernelModule.load(context));
    this.stream = keep(Stream.open());
    this.weights = keep(loader.apply(context, stream));
    this.launches = new DecoderLaunches(module, stream, config);
    this.store = new RowStore(module, format, config.attentionShape());
    this.attention =
        keep(new PagedAttention(module, stream, format, config.attentionShape(), limits.rows()));
    this.table = keep(new PageTable(context, limits.rows(), limits.rows() * limits.pages()));
    this.halfPages =
        keep(pool(PageFormat.FP16, format.isPacked() ? limits.halfPages() : limits.pages()));
    this.packedPages = format.isPacked() ? keep(pool(format, limits.pages())) : null;
    int heads = config.queryHeads() * config.headDim();
    int kvHeads = config.kvHeads() * config.headDim();
    this.x = floats(config.hidden());
    this.update = floats(config.hidden());
    this.projected = floats(heads + 2 * kvHeads);
    this.queries = floats(heads);
    this.mixed = floats(heads);
    this.gateAndUp = floats(2 * config.feedForward());
    this.logits = floats(config.vocabulary());
    this.likeliest = floats(1);
    this.narrow = keep(CodedRows.of(context, limits.rows(), Math.max(config.hidden(), heads)));
    this.wide = keep(CodedRows.of(context, limits.rows(), config.feedForward()));
    this.inputs = arena.allocate((long) INPUT_BYTES * limits.rows(), 16);
    this.deviceInputs = keep(context.allocate(inputs.byteSize()));
    this.packings = arena.allocate(8L * pair.length * limits.rows(), 16);
    this.devicePackings = keep(context.allocate(packings.byteSize()));
    this.hostLogits = arena.allocate(logits.bytes(), 64);
  }

  private PagePool pool(PageFormat of, int pages) {
    long bytes = (long) config.kvHeads() * of.pageBytes(config.headDim());
    return new PagePool(context, config.layers(), pages, bytes);
  }

  private DeviceMemory floats(int columns) {
    return keep(context.allocate((long) limits.rows() * columns * Float.BYTES));
  }

  private <T extends AutoCloseable> T keep(T each) {
    taken.add(each);
    return each;
  }

  public DeviceSequence newSequence() {
    return new DeviceSequence(halfPages, packedPages, limits.window());
  }

  /** Bytes of the device that are taken. */
  public long bytes() {
    return context.takenBytes();
  }

  /**
   * Appends tokens to their sequences, all rows of a sequence one after another, and packs what has
   * left the windows. Where there is no room for them nothing has changed.
   *
   * @param sequences of each row
   * @param out logits of each row // (rows, vocabulary), set
   */
  public void step(List<DeviceSequence> sequences, int[] tokens, float[] out) {
    int rows = run(sequences, tokens);
    logits.download(stream, 0, hostLogits, (long) rows * config.vocabulary() * Float.BYTES);
    settle(sequences);
    stream.synchronize();
    MemorySegment.copy(hostLogits, JAVA_FLOAT, 0, out, 0, rows * config.vocabulary());
  }

  /**
   * The same where the likeliest token of each row is all that is asked for.
   *
   * @param next (rows), set
   */
  public void step(List<DeviceSequence> sequences, int[] tokens, int[] next) {
    int rows = run(sequences, tokens);
    likeliest.download(stream, 0, hostLogits, (long) rows * Integer.BYTES);
    settle(sequences);
    stream.synchronize();
    MemorySegment.copy(hostLogits, JAVA_INT, 0, next, 0, rows);
  }

  /** Answers how many rows there are. */
  private int run(List<DeviceSequence> sequences, int[] tokens) {
    int rows = sequences.size();
    if (rows < 1 || rows > limits.rows()) {
      throw new IllegalArgumentException(
          "a step has %d rows; expected 1 to %d".formatted(rows, limits.rows()));
    }
    table.clear();
    for (int row = 0; row < rows; row++) {
      DeviceSequence sequence = sequences.get(row);
      inputs.setAtIndex(JAVA_LONG, row, place(sequences, row));
      inputs.set(JAVA_INT, tokensAt() + 4L * row, tokens[row]);
      inputs.set(JAVA_INT, positionsAt() + 4L * row, sequence.length() - 1);
      sequence.describe(table);
    }
    deviceInputs.upload(stream, 0, inputs, inputs.byteSize());
    table.upload(stream);
    attention.plan(table);
    recorded(rows).launch(stream);
    return rows;
  }

  /** Where a row is to be stored; where there is no room, all sequences are as they were. */
  private static long place(List<DeviceSequence> sequences, int row) {
    try {
      return sequences.get(row).append();
    } catch (DeviceRefusal refusal) {
      sequences.subList(0, row).forEach(DeviceSequence::takeBack);
      throw refusal;
    }
  }

  private long tokensAt() {
    return 8L * limits.rows();
  }

  private long positionsAt() {
    return 12L * limits.rows();
  }

  /** Recorded anew when there are other rows, or attention is cut in another way. */
  private Graph recorded(int rows) {
    if (graph == null || rows != graphRows || attention.plans() != graphPlan) {
      if (graph != null) {
        graph.close();
      }
      graph = stream.capture(() -> record(rows));
      graphRows = rows;
      graphPlan = attention.plans();
    }
    return graph;
  }

  private void record(int rows) {
    long places = deviceInputs.address();
    long positions = places + positionsAt();
    launches.embed(weights.embedding(), places + tokensAt(), rows, x);
    DeviceMemory added = null;
    for (int i = 0; i < config.layers(); i++) {
      DeviceWeights.Layer layer = weights.layers().get(i);
      long halfOffset = i * halfPages.layerStride();
      launches.normalize(x, added, layer.attentionNorm(), config, rows, 0, narrow);
      launches.multiply(layer.projections(), narrow, rows, projected);
      launches.turn(
          projected,
          layer.bias(),
          weights.frequencies(),
          positions,
          places,
          halfOffset,
          queries,
          rows);
      attention.atLayer(packedPages == null ? 0 : i * packedPages.layerStride(), halfOffset);
      attention.attend(stream, queries.address(), mixed.address(), true);
      launches.codeHalves(mixed, config.queryHeads() * config.headDim(), rows, narrow);
      launches.multiply(layer.output(), narrow, rows, update);
      launches.normalize(x, update, layer.feedForwardNorm(), config, rows, 0, narrow);
      launches.multiply(layer.gateAndUp(), narrow, rows, gateAndUp);
      launches.activate(gateAndUp, config.feedForward(), rows, wide);
      launches.multiply(layer.down(), wide, rows, update);
      added = update;
    }
    launches.normalize(x, added, weights.outputNorm(), config, rows, 0, narrow);
    launches.multiply(weights.output(), narrow, rows, logits);
    launches.pickLikeliest(logits, config.vocabulary(), rows, likeliest);
  }

  /** Packs blocks that have left their window, in all layers at once. */
  private void settle(List<DeviceSequence> sequences) {
    int addresses = 0;
    for (DeviceSequence sequence : sequences) {
      while (sequence.mustPack() && addresses < pair.length * limits.rows()) {
        sequence.pack(pair, 0);
        for (long address : pair) {
          packings.setAtIndex(JAVA_LONG, addresses++, address);
        }
      }
    }
    if (addresses > 0) {
      devicePackings.upload(stream, 0, packings, 8L * addresses);
      RowStore.Layers layers =
          new RowStore.Layers(config.layers(), halfPages.layerStride(), packedPages.layerStride());
      store.pack(stream, addresses / 2, devicePackings.address(), layers, GROUP, GROUP);
    }
  }

  @Override
  public void close() {
    if (graph != null) {
      graph.close();
    }
    close(taken);
    taken.clear();
    if (arena.scope().isAlive()) {
      arena.close();
    }
  }

  private static void close(List<AutoCloseable> taken) {
    try {
      for (AutoCloseable each : taken.reversed()) {
        each.close();
      }
    } catch (Exception e) {
      throw new IllegalStateException(e); // none of them throws a checked one
    }
  }
}
