package dev.kvasir.cuda;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.kvasir.model.ModelConfig;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * A decoder whose weights lie on a device: a step of up to some rows runs there whole. Rows are
 * added, run, and what came of them is read; what changes from step to step, tokens, positions and
 * pages, is brought there before. Steps of a shape that comes again are graphs.
 *
 * <p>Several rows of a sequence in one step, a part of a prompt, see each other as they should. A
 * few are sequences of their own to attention, with the same pages and another end; many are a run,
 * which reads its pages once ({@link PrefillAttention}). Runs come behind all others.
 *
 * <p>Products are the host's sums of integers, and packing has the host's bits; what differs is the
 * order of float sums and halves where queries and outputs of attention go through memory.
 */
final class DeviceDecoder implements AutoCloseable {
  /** Inputs of a row: its place, its token, its position, and a row that logits are wanted of. */
  private static final int INPUT_BYTES = 20;

  /** Entries of the table of a step: 256 rows of 131,072 tokens. */
  private static final int MAX_ENTRIES = 1 << 19;

  private final ModelConfig config;
  private final int maxRows;
  private final CudaContext context;
  private final CudaStream stream;
  private final List<AutoCloseable> owned = new ArrayList<>(); // in the order in which it was
  private final Arena arena = own(Arena.ofShared());
  private final DeviceWeights weights;
  private final DecoderKernels kernels;
  private final PageTable table;
  private final PrefillChunks chunks;
  private final DequantizedPages dequantized;
  private final StepGraphCache graphs;

  private final DeviceMemory x; // (rows, hidden), the residual stream
  private final DeviceMemory update; // (rows, hidden)
  private final DeviceMemory projected; // (rows, heads, headDim) of queries, keys and values
  private final DeviceMemory queries; // (rows, queryHeads, headDim) halves
  private final DeviceMemory attentionOutput; // the same
  private final DeviceMemory gateAndUp; // (rows, 2 * feedForward)
  private final DeviceMemory logits; // (rows, vocabulary)
  private final DeviceMemory argmaxTokens; // (rows)
  private final DeviceActivations hiddenActivations; // (rows, hidden), or of a head's outputs
  private final DeviceActivations feedForwardActivations; // (rows, feedForward)

  private final long[] slots; // of rows
  private final int[] tokens;
  private final int[] positions;
  private final int[] logitRows; // rows whose logits are wanted
  private final MemorySegment inputs; // all of these
  private final DeviceMemory deviceInputs;
  private final MemorySegment hostRow; // logits of a row, or the likeliest tokens of all

  private CacheResources resources;
  private int rows;
  private int logitRowCount;
  private StepTimingListener listener = StepTimingListener.NONE;

  /**
   * @param weights closed with it
   * @param mostRows of a step
   */
  DeviceDecoder(
      CudaContext context,
      KernelModule module,
      CudaStream stream,
      ModelConfig config,
      DeviceWeights weights,
      int maxRows) {
    this.context = context;
    this.stream = stream;
    this.config = config;
    this.maxRows = maxRows;
    this.weights = own(weights);
    this.kernels = new DecoderKernels(module, stream, config);
    this.table = own(new PageTable(context, maxRows, MAX_ENTRIES));
    this.chunks = own(new PrefillChunks(context, maxRows));
    this.dequantized = own(new DequantizedPages(context, config));
    this.graphs = own(new StepGraphCache(stream));
    int heads = config.queryHeads() * config.headDim();
    int kvHeads = config.kvHeads() * config.headDim();
    this.x = floats(config.hidden());
    this.update = floats(config.hidden());
    this.projected = floats(heads + 2 * kvHeads);
    this.queries = floats(heads);
    this.attentionOutput = floats(heads);
    this.gateAndUp = floats(2 * config.feedForward());
    this.logits = floats(config.vocabulary());
    this.argmaxTokens = floats(1);
    this.hiddenActivations =
        own(
            DeviceActivations.of(
                context, maxRows, Math.max(config.hidden(), heads), weights.hasHalves()));
    this.feedForwardActivations =
        own(DeviceActivations.of(context, maxRows, config.feedForward(), weights.hasHalves()));
    this.slots = new long[maxRows];
    this.tokens = new int[maxRows];
    this.positions = new int[maxRows];
    this.logitRows = new int[maxRows];
    this.inputs = arena.allocate((long) INPUT_BYTES * maxRows, 16);
    this.deviceInputs = own(context.allocate(inputs.byteSize()));
    this.hostRow = arena.allocate(4L * Math.max(config.vocabulary(), maxRows), 64);
  }

  private DeviceMemory floats(int columns) {
    return own(context.allocate((long) maxRows * columns * Float.BYTES));
  }

  private <T extends AutoCloseable> T own(T each) {
    owned.add(each);
    return each;
  }

  long weightBytes() {
    return weights.bytes();
  }

  /** Lets somebody see where the time of a step goes. */
  void setListener(StepTimingListener by) {
    listener = by;
  }

  /** Begins a step of sequences of one kind. */
  void begin(CacheResources cacheResources) {
    resources = cacheResources;
    table.clear();
    chunks.clear();
    dequantized.clear();
    rows = 0;
    logitRowCount = 0;
  }

  /** Whether a row of a sequence of so many pages still fits. */
  boolean fits(int itsPages) {
    return rows < maxRows && table.entries() + itsPages <= MAX_ENTRIES;
  }

  /** Makes room to unpack as many pages as a run of a step has, where there is memory for it. */
  void reserveForChunk(SequencePages sequence) {
    dequantized.ensureCapacity(sequence.quantizedPages());
  }

  /** Whether a sequence's rows can be a run, in a part of a step at the least. */
  boolean canChunk(SequencePages sequence) {
    return !resources.dequantizesForPrefill()
        || sequence.quantizedPages() <= dequantized.capacity();
  }

  /** Whether they can in this part. */
  boolean canChunkNow(SequencePages sequence) {
    return !resources.dequantizesForPrefill()
        || sequence.quantizedPages() <= dequantized.remaining();
  }

  int rowsLeft() {
    return maxRows - rows;
  }

  /**
   * Adds a row whose position is reserved.
   *
   * @param wanted whether its logits are
   */
  void add(SequencePages sequence, int token, int position, boolean wanted) {
    sequence.addTo(table, position + 1);
    addRow(sequence, token, position, wanted);
  }

  /** Begins a run of so many rows, which are added to it next. */
  void beginChunk(SequencePages sequence, int position, int count) {
    int firstEntry = table.entries();
    int firstTable =
        sequence.addChunkTo(
            table,
            position,
            position + count,
            resources.dequantizesForPrefill() ? dequantized : null);
    int sinks = resources.cacheConfig().sinks();
    chunks.add(rows, count, position, firstEntry, sequence.quantizedPages(), sinks, firstTable);
  }

  /** Adds a row to the run that was begun last. */
  void addRow(SequencePages sequence, int token, int position, boolean wanted) {
    slots[rows] = sequence.slot(position);
    tokens[rows] = token;
    positions[rows] = position;
    if (wanted) {
      logitRows[logitRowCount++] = rows;
    }
    rows++;
  }

  int rows() {
    return rows;
  }

  private long tokensAt() {
    return 8L * maxRows;
  }

  private long positionsAt() {
    return 12L * maxRows;
  }

  private long logitRowsAt() {
    return 16L * maxRows;
  }

  /** Runs the step, without waiting for it. */
  void run() {
    MemorySegment.copy(slots, 0, inputs, JAVA_LONG, 0, rows);
    MemorySegment.copy(tokens, 0, inputs, JAVA_INT, tokensAt(), rows);
    MemorySegment.copy(positions, 0, inputs, JAVA_INT, positionsAt(), rows);
    MemorySegment.copy(logitRows, 0, inputs, JAVA_INT, logitRowsAt(), logitRowCount);
    deviceInputs.upload(stream, 0, inputs, inputs.byteSize());
    table.upload(stream);
    chunks.upload(stream);
    dequantized.upload(stream);
    if (table.sequences() > 0) {
      resources.attention().plan(table);
    }
    if (listener == StepTimingListener.NONE) {
      graphs.run(shape(), this::launch);
    } else {
      runProfiled();
    }
  }

  /** Waits for the step, since its graph goes. */
  private void runProfiled() {
    try (CudaGraph once = stream.capture(this::launch)) {
      once.launch(stream);
      stream.synchronize();
    }
  }

  private StepGraphCache.Shape shape() {
    int singles = table.sequences();
    PagedAttention.LaunchPlan cut = singles > 0 ? resources.attention().launchPlan() : null;
    return new StepGraphCache.Shape(
        resources.cacheConfig(),
        rows,
        logitRowCount,
        singles,
        cut,
        chunks.count(),
        chunkBlocks(),
        dequantized.grids());
  }

  /** Of the longest run, for each KV head. */
  private int chunkBlocks() {
    return chunks.count() == 0
        ? 0
        : resources.prefillAttention().orElseThrow().blocks(chunks.maxRows());
  }

  private void attend(LayerOffsets offsets) {
    if (table.sequences() > 0) {
      resources.attention().selectLayer(offsets);
      resources.attention().attend(stream, queries.address(), attentionOutput.address(), false);
    }
    if (chunks.count() > 0) {
      resources
          .attention()
          .observePrefill(
              stream,
              chunks,
              new AuxiliaryKernels.Call(
                  table, offsets, queries.address(), attentionOutput.address()));
      resources.dequantize(stream, dequantized, offsets.layer());
      resources
          .prefillAttention()
          .orElseThrow()
          .attend(stream, chunks, chunkBlocks(), table, offsets, queries, attentionOutput);
    }
  }

  private void launch() {
    long slotsAddress = deviceInputs.address();
    long positionsOfRows = slotsAddress + positionsAt();
    listener.begin(stream);
    kernels.embed(weights.embedding(), slotsAddress + tokensAt(), rows, x);
    listener.end(stream, "embedding");
    DeviceMemory added = null;
    for (int i = 0; i < config.layers(); i++) {
      DeviceWeights.Layer layer = weights.layers().get(i);
      LayerOffsets offsets = resources.offsets(i);
      kernels.normalize(x, added, layer.attentionNorm(), rows, 0, hiddenActivations);
      listener.end(stream, "add, norm");
      kernels.multiply(layer.projections(), hiddenActivations, rows, projected);
      listener.end(stream, "product q k v");
      kernels.rotate(
          projected,
          layer,
          weights.frequencies(),
          positionsOfRows,
          slotsAddress,
          offsets.fp16(),
          queries,
          rows);
      listener.end(stream, "turn, append");
      attend(offsets);
      listener.end(stream, "attention");
      kernels.quantizeHalves(
          attentionOutput, config.queryHeads() * config.headDim(), rows, hiddenActivations);
      listener.end(stream, "round");
      kernels.multiply(layer.output(), hiddenActivations, rows, update);
      listener.end(stream, "product output");
      kernels.normalize(x, update, layer.feedForwardNorm(), rows, 0, hiddenActivations);
      listener.end(stream, "add, norm");
      kernels.multiply(layer.gateAndUp(), hiddenActivations, rows, gateAndUp);
      listener.end(stream, "product gate up");
      kernels.activate(gateAndUp, config.feedForward(), rows, feedForwardActivations);
      listener.end(stream, "silu");
      kernels.multiply(layer.down(), feedForwardActivations, rows, update);
      listener.end(stream, "product down");
      added = update;
    }
    if (logitRowCount > 0) {
      kernels.normalize(
          x,
          added,
          weights.outputNorm(),
          logitRowCount,
          slotsAddress + logitRowsAt(),
          hiddenActivations);
      listener.end(stream, "add, norm");
      kernels.multiply(weights.output(), hiddenActivations, logitRowCount, logits);
      listener.end(stream, "product logits");
      kernels.argmax(logits, config.vocabulary(), logitRowCount, argmaxTokens);
      listener.end(stream, "likeliest");
    }
  }

  /** Waits for the step; the likeliest tokens of rows whose logits are wanted. */
  int[] argmaxTokens() {
    if (logitRowCount > 0) {
      argmaxTokens.download(stream, 0, hostRow, (long) logitRowCount * Integer.BYTES);
    }
    stream.synchronize();
    int[] found = new int[logitRowCount];
    MemorySegment.copy(hostRow, JAVA_INT, 0, found, 0, logitRowCount);
    return found;
  }

  /** Logits of a row by their index. */
  void logits(int index, float[] out, int at) {
    int columns = config.vocabulary();
    logits.download(stream, 4L * index * columns, hostRow, 4L * columns);
    stream.synchronize();
    MemorySegment.copy(hostRow, JAVA_FLOAT, 0, out, at, columns);
  }

  @Override
  public void close() {
    Resources.closeAll(owned);
  }
}
