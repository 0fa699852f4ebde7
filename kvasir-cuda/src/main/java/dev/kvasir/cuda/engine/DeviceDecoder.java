package dev.kvasir.cuda.engine;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.kvasir.cuda.driver.CudaContext;
import dev.kvasir.cuda.driver.CudaEvent;
import dev.kvasir.cuda.driver.CudaGraph;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.cuda.driver.KernelModule;
import dev.kvasir.cuda.driver.Resources;
import dev.kvasir.cuda.formats.AuxiliaryKernels;
import dev.kvasir.cuda.formats.CacheResources;
import dev.kvasir.cuda.formats.PagedAttention;
import dev.kvasir.cuda.kernels.DecoderKernels;
import dev.kvasir.cuda.kernels.DeviceActivations;
import dev.kvasir.cuda.kernels.DeviceWeights;
import dev.kvasir.cuda.kernels.RowCounts;
import dev.kvasir.cuda.memory.DequantizedPages;
import dev.kvasir.cuda.memory.LayerOffsets;
import dev.kvasir.cuda.memory.PageTable;
import dev.kvasir.cuda.memory.PrefillChunks;
import dev.kvasir.model.ModelConfig;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * A decoder whose weights are on a device, or consecutive layers of one ({@code DecoderChain}). A
 * step of up to {@code maxRows} rows runs there as a whole: rows are added, run, and their results
 * read. Tokens, positions and page tables are uploaded before each step. Steps with a recurring
 * shape run as CUDA graphs.
 *
 * <p>Rows of generated tokens come first, then those of prompts. Rows of a prompt form a chunk,
 * which attend to each other causally and read their pages once ({@code PrefillAttention}). Rows
 * without kernels or memory for that are separate sequences to attention, with the same pages and
 * different ends; they come before chunks.
 *
 * <p>Quantization gives the same bits as on the host. Products with weights in chunks are the same
 * integer sums; with weights in blocks, activations are halves. The order of float sums differs,
 * and queries and attention outputs are stored as halves.
 */
final class DeviceDecoder implements AutoCloseable {
  /** Inputs of a row: slot, token, position, and the index of a row with logits. */
  private static final int INPUT_BYTES = 20;

  /** Maximum rows with logits of a step; prompts have one. */
  private static final int MAX_LOGIT_ROWS = 256;

  /** Page table entries of a step: 256 rows of 131,072 tokens. */
  private static final int MAX_ENTRIES = 1 << 19;

  /**
   * Rows of a step up to which attention starts while the kernel before it ends. With more of them
   * it takes whole multiprocessors, which the blocks that wait would share.
   */
  private static final int MAX_EARLY_ATTENTION_ROWS = 8;

  private final ModelConfig config;
  private final int maxRows;
  private final int maxLogitRows;
  private final CudaContext context;
  private final CudaStream stream;
  private final List<AutoCloseable> owned = new ArrayList<>(); // in order of creation
  private final Arena arena = own(Arena.ofShared());
  private final DeviceWeights weights;
  private final DecoderKernels kernels;
  private final PageTable table;
  private final PrefillChunks chunks;
  private final DequantizedPages dequantized;
  private final StepGraphCache graphs;
  private final CudaEvent computed; // when the layers of a step are

  private final DeviceMemory x; // (rows, hidden), the residual stream
  private final DeviceMemory update; // (rows, hidden)
  private final DeviceMemory projected; // (rows, heads, headDim) of queries, keys and values
  private final DeviceMemory queries; // (rows, queryHeads, headDim) halves
  private final DeviceMemory attentionOutput; // (rows, queryHeads, headDim) halves
  private final DeviceMemory gateAndUp; // (rows, 2 * feedForward)
  private final DeviceMemory logits; // (rows with logits, vocabulary); null without the last layer
  private final DeviceMemory argmaxTokens; // (rows)
  private final DeviceActivations hiddenActivations; // (rows, max of hidden and attention output)
  private final DeviceActivations feedForwardActivations; // (rows, feedForward)

  private final long[] slots; // by row
  private final int[] tokens;
  private final int[] positions;
  private final int[] logitRows; // rows with logits
  private final int[] argmaxes; // by row with logits
  private final MemorySegment inputs; // slots, tokens, positions, rows with logits
  private final DeviceMemory deviceInputs;
  private final MemorySegment hostRow; // logits of a row, or argmax tokens of all

  private CacheResources resources;
  private int rows;
  private int mostEntries; // of a row that attends on its own
  private int generatedRows; // which come first
  private int logitRowCount;
  private int generatedLogitRows; // which come first too
  private RowCounts rowCounts = RowCounts.NONE;
  private RowCounts logitRowCounts = RowCounts.NONE;
  private StepGraphCache.Shape shape; // of the step before; null before the first
  private StepTimingListener listener = StepTimingListener.NONE;
  private final Runnable launch = this::launch;

  /**
   * @param config of the layers that it has
   * @param weights closed with the decoder
   * @param maxRows maximum rows of a step
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
    this.kernels = own(new DecoderKernels(module, stream, config, weights, maxRows));
    this.table = own(new PageTable(context, maxRows, MAX_ENTRIES));
    this.chunks = own(new PrefillChunks(context, maxRows));
    this.dequantized = own(new DequantizedPages(context, config));
    this.graphs = own(new StepGraphCache(stream));
    this.computed = own(CudaEvent.open());
    int heads = config.queryHeads() * config.headDim();
    int kvHeads = config.kvHeads() * config.headDim();
    this.x = floats(config.hidden());
    this.update = floats(config.hidden());
    this.projected = floats(heads + 2 * kvHeads);
    this.queries = floats(heads);
    this.attentionOutput = floats(heads);
    this.gateAndUp = floats(2 * config.feedForward());
    this.maxLogitRows = Math.min(maxRows, MAX_LOGIT_ROWS);
    this.logits =
        weights.output() == null
            ? null
            : own(context.allocate((long) maxLogitRows * config.vocabulary() * Float.BYTES));
    this.argmaxTokens = floats(1);
    this.hiddenActivations =
        own(DeviceActivations.of(context, maxRows, Math.max(config.hidden(), heads), weights));
    this.feedForwardActivations =
        own(DeviceActivations.of(context, maxRows, config.feedForward(), weights));
    this.slots = new long[maxRows];
    this.tokens = new int[maxRows];
    this.positions = new int[maxRows];
    this.logitRows = new int[maxRows];
    this.argmaxes = new int[maxLogitRows];
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

  /** Makes the device current for the calling thread. */
  void enter() {
    context.enter();
  }

  /** Sets the listener that times the parts of a step. */
  void setListener(StepTimingListener by) {
    listener = by;
  }

  /** Starts a step of sequences that share their resources. */
  void begin(CacheResources cacheResources) {
    resources = cacheResources;
    table.clear();
    chunks.clear();
    dequantized.clear();
    rows = 0;
    mostEntries = 0;
    generatedRows = 0;
    logitRowCount = 0;
    generatedLogitRows = 0;
  }

  /** Returns whether a row of a sequence that needs some entries still fits. */
  boolean fits(int entries) {
    return rowsLeft() > 0
        && logitRowsLeft() > 0
        && table.entries() + entries <= MAX_ENTRIES
        && resources.attention().fits(table.sequences() + 1, Math.max(mostEntries, entries));
  }

  /** Grows the dequantization workspace for the sequence's pages, if memory is available. */
  void reserveForChunk(SequencePages sequence) {
    dequantized.ensureCapacity(sequence.quantizedPages());
  }

  /** Returns whether the rows of a sequence can form a chunk in some part of a step. */
  boolean canChunk(SequencePages sequence) {
    return !resources.dequantizesForPrefill()
        || sequence.quantizedPages() <= dequantized.capacity();
  }

  /** Returns whether they can form a chunk in the current part. */
  boolean canChunkNow(SequencePages sequence) {
    return !resources.dequantizesForPrefill()
        || sequence.quantizedPages() <= dequantized.remaining();
  }

  int rowsLeft() {
    return maxRows - rows;
  }

  int logitRowsLeft() {
    return maxLogitRows - logitRowCount;
  }

  /**
   * Adds the row of a generated token, before all rows of prompts. Its position is reserved.
   *
   * @param wanted whether to compute its logits
   */
  void addGenerated(SequencePages sequence, int token, int position, boolean wanted) {
    add(sequence, token, position, wanted);
    generatedRows = rows;
    generatedLogitRows = logitRowCount;
  }

  /** Adds a row of a prompt that attends on its own, before all chunks. */
  void add(SequencePages sequence, int token, int position, boolean wanted) {
    sequence.addTo(table, position + 1);
    mostEntries = Math.max(mostEntries, sequence.tableSize());
    addRow(sequence, token, position, wanted);
  }

  /** Starts a chunk; its rows are added next. */
  void beginChunk(SequencePages sequence, int position, int count) {
    int firstEntry = table.entries();
    int end = position + count;
    DequantizedPages target = resources.dequantizesForPrefill() ? dequantized : null;
    int firstTable = sequence.addChunkTo(table, position, end, target);
    int sinks = resources.cacheConfig().sinks();
    chunks.add(rows, count, position, firstEntry, sequence.quantizedPages(0), sinks, firstTable);
    for (int group = 1; group < sequence.groups(); group++) {
      int first = table.entries();
      sequence.addGroupTo(table, group, end, target);
      chunks.addGroup(group, first, sequence.quantizedPages(group));
    }
  }

  /** Adds a row to the current chunk. */
  void addRow(SequencePages sequence, int token, int position, boolean wanted) {
    slots[rows] = sequence.slot(position);
    sequence.observeToken(position, token);
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

  /** Uploads the inputs of the step without waiting for it. */
  void upload() {
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
  }

  /**
   * Copies the residual stream, and what is still to be added to it, to the next layers' decoder.
   */
  void passRows(DeviceDecoder next) {
    long bytes = (long) rows * config.hidden() * Float.BYTES;
    context.enter();
    computed.record(stream);
    next.context.enter();
    next.stream.await(computed);
    next.x.copyFrom(next.stream, x, bytes);
    next.update.copyFrom(next.stream, update, bytes);
  }

  /** Submits the step without waiting for it. */
  void run() {
    if (listener == StepTimingListener.NONE) {
      graphs.run(shape(), launch);
    } else {
      runProfiled();
    }
  }

  /** Runs the step and waits for it, because its graph is discarded. */
  private void runProfiled() {
    try (CudaGraph once = stream.capture(this::launch)) {
      once.launch(stream);
      stream.synchronize();
    }
  }

  /** Returns the previous shape if nothing in it has changed. */
  private StepGraphCache.Shape shape() {
    rowCounts = rowCounts.with(generatedRows, rows);
    logitRowCounts = logitRowCounts.with(generatedLogitRows, logitRowCount);
    int singles = table.sequences();
    PagedAttention.LaunchPlan cut = singles > 0 ? resources.attention().launchPlan() : null;
    shape =
        StepGraphCache.Shape.of(
            shape,
            resources.cacheConfig(),
            rowCounts,
            logitRowCounts,
            singles,
            cut,
            chunks.count(),
            chunkBlocks(),
            dequantized.grids());
    return shape;
  }

  /** Returns the thread blocks of the longest chunk per KV head. */
  private int chunkBlocks() {
    return chunks.count() == 0
        ? 0
        : resources.prefillAttention().orElseThrow().blocks(chunks.maxRows());
  }

  private void attend(LayerOffsets offsets) {
    long sinkScores = weights.layers().get(offsets.layer()).sinkScoresAddress();
    if (table.sequences() > 0) {
      resources.attention().selectLayer(offsets);
      resources.attention().selectSinks(sinkScores);
      boolean early =
          overlaps()
              && rows <= MAX_EARLY_ATTENTION_ROWS
              && resources.attention().hasNoAuxiliaryKernels();
      resources.attention().attend(stream, queries.address(), attentionOutput.address(), early);
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
          .attend(
              stream, chunks, chunkBlocks(), table, offsets, queries, attentionOutput, sinkScores);
    }
  }

  /**
   * Returns whether the kernels of the step start while the previous ones end. Only those compiled
   * for 9.0 wait where they must.
   */
  private boolean overlaps() {
    return chunks.count() == 0 && context.device().hasWarpgroupProducts();
  }

  private void launch() {
    kernels.overlap(overlaps());
    long slotsAddress = deviceInputs.address();
    long positionsOfRows = slotsAddress + positionsAt();
    listener.begin(stream);
    if (weights.embedding() != null) {
      kernels.embed(weights.embedding(), slotsAddress + tokensAt(), rows, x);
    }
    kernels.computeAngles(weights, positionsOfRows, rows);
    listener.end(stream, "embedding");
    RowCounts counts = rowCounts.with(generatedRows, rows);
    DecoderKernels.RotatedRows rotated =
        new DecoderKernels.RotatedRows(projected, positionsOfRows, slotsAddress, queries, rows);
    DeviceMemory added = weights.embedding() == null ? update : null;
    for (int i = 0; i < config.layers(); i++) {
      DeviceWeights.Layer layer = weights.layers().get(i);
      LayerOffsets offsets = resources.offsets(i);
      kernels.normalize(
          x, added, layer.attentionNorm(), counts, 0, layer.projections(), hiddenActivations);
      listener.end(stream, "add, norm");
      kernels.multiply(layer.projections(), hiddenActivations, counts, projected);
      listener.end(stream, "product q k v");
      kernels.rotate(rotated, weights, i, offsets.fp16());
      listener.end(stream, "turn, append");
      attend(offsets);
      listener.end(stream, "attention");
      kernels.convertHalves(
          attentionOutput,
          config.queryHeads() * config.headDim(),
          counts,
          layer.output(),
          hiddenActivations);
      listener.end(stream, "round");
      kernels.multiply(layer.output(), hiddenActivations, counts, update);
      kernels.finish(update, layer.attentionOut(), rows);
      listener.end(stream, "product output");
      kernels.normalize(
          x, update, layer.feedForwardNorm(), counts, 0, layer.feedForwardIn(), hiddenActivations);
      listener.end(stream, "add, norm");
      feedForward(layer, counts);
      kernels.finish(update, layer.feedForwardOut(), rows);
      added = update;
    }
    if (logitRowCount > 0) {
      RowCounts logitCounts = logitRowCounts.with(generatedLogitRows, logitRowCount);
      kernels.normalize(
          x,
          added,
          weights.outputNorm(),
          logitCounts,
          slotsAddress + logitRowsAt(),
          weights.output(),
          hiddenActivations);
      listener.end(stream, "add, norm");
      kernels.multiply(weights.output(), hiddenActivations, logitCounts, logits);
      kernels.capLogits(logits, config.vocabulary(), logitRowCount);
      listener.end(stream, "product logits");
      kernels.argmax(logits, config.vocabulary(), logitRowCount, argmaxTokens);
      listener.end(stream, "likeliest");
    }
  }

  private void feedForward(DeviceWeights.Layer layer, RowCounts counts) {
    if (layer.experts() != null) {
      kernels.runExperts(layer, x, hiddenActivations, counts, update);
      listener.end(stream, "experts");
      return;
    }
    kernels.multiply(layer.gateAndUp(), hiddenActivations, counts, gateAndUp);
    listener.end(stream, "product gate up");
    kernels.activate(gateAndUp, config.feedForward(), counts, layer.down(), feedForwardActivations);
    listener.end(stream, "silu");
    kernels.multiply(layer.down(), feedForwardActivations, counts, update);
    listener.end(stream, "product down");
  }

  /** Waits for the step and returns the argmax tokens of rows with logits, until the next step. */
  int[] argmaxTokens() {
    if (logitRowCount > 0) {
      argmaxTokens.download(stream, 0, hostRow, (long) logitRowCount * Integer.BYTES);
    }
    stream.synchronize();
    MemorySegment.copy(hostRow, JAVA_INT, 0, argmaxes, 0, logitRowCount);
    return argmaxes;
  }

  /** Reads the logits of a row by its index among rows with logits. */
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
