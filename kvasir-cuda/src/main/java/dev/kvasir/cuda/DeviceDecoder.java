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
 * which reads its pages once ({@link PromptAttention}). Runs come behind all others.
 *
 * <p>Products are the host's sums of integers, and packing has the host's bits; what differs is the
 * order of float sums and halves where queries and outputs of attention go through memory.
 */
final class DeviceDecoder implements AutoCloseable {
  /** Inputs of a row: its place, its token, its position, and a row that logits are wanted of. */
  private static final int INPUT_BYTES = 20;

  /** Entries of the table of a step: 256 rows of 131,072 tokens. */
  private static final int MOST_ENTRIES = 1 << 19;

  private final ModelConfig config;
  private final int mostRows;
  private final Context context;
  private final Stream stream;
  private final List<AutoCloseable> taken = new ArrayList<>(); // in the order in which it was
  private final Arena arena = keep(Arena.ofShared());
  private final DeviceWeights weights;
  private final DecoderLaunches launches;
  private final PageTable table;
  private final PromptRuns runs;
  private final ExpandedPages expanded;
  private final StepGraphs graphs;

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

  private final long[] places; // of rows
  private final int[] tokens;
  private final int[] positions;
  private final int[] outs; // rows whose logits are wanted
  private final MemorySegment inputs; // all of these
  private final DeviceMemory deviceInputs;
  private final MemorySegment oneRow; // logits of a row, or the likeliest tokens of all

  private KindPages pages;
  private int rows;
  private int outRows;
  private StepMarks marks = StepMarks.NONE;

  /**
   * @param weights closed with it
   * @param mostRows of a step
   */
  DeviceDecoder(
      Context context,
      KernelModule module,
      Stream stream,
      ModelConfig config,
      DeviceWeights weights,
      int mostRows) {
    this.context = context;
    this.stream = stream;
    this.config = config;
    this.mostRows = mostRows;
    this.weights = keep(weights);
    this.launches = new DecoderLaunches(module, stream, config);
    this.table = keep(new PageTable(context, mostRows, MOST_ENTRIES));
    this.runs = keep(new PromptRuns(context, mostRows));
    this.expanded = keep(new ExpandedPages(context, config));
    this.graphs = keep(new StepGraphs(stream));
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
    this.narrow =
        keep(
            CodedRows.of(context, mostRows, Math.max(config.hidden(), heads), weights.hasHalves()));
    this.wide = keep(CodedRows.of(context, mostRows, config.feedForward(), weights.hasHalves()));
    this.places = new long[mostRows];
    this.tokens = new int[mostRows];
    this.positions = new int[mostRows];
    this.outs = new int[mostRows];
    this.inputs = arena.allocate((long) INPUT_BYTES * mostRows, 16);
    this.deviceInputs = keep(context.allocate(inputs.byteSize()));
    this.oneRow = arena.allocate(4L * Math.max(config.vocabulary(), mostRows), 64);
  }

  private DeviceMemory floats(int columns) {
    return keep(context.allocate((long) mostRows * columns * Float.BYTES));
  }

  private <T extends AutoCloseable> T keep(T each) {
    taken.add(each);
    return each;
  }

  long weightBytes() {
    return weights.bytes();
  }

  /** Lets somebody see where the time of a step goes. */
  void mark(StepMarks by) {
    marks = by;
  }

  /** Begins a step of sequences of one kind. */
  void begin(KindPages kind) {
    pages = kind;
    table.clear();
    runs.clear();
    expanded.clear();
    rows = 0;
    outRows = 0;
  }

  /** Whether a row of a sequence of so many pages still fits. */
  boolean hasRoom(int itsPages) {
    return rows < mostRows && table.entries() + itsPages <= MOST_ENTRIES;
  }

  /** Makes room to unpack as many pages as a run of a step has, where there is memory for it. */
  void expectRun(SequencePages sequence) {
    expanded.grow(sequence.codedPages());
  }

  /** Whether a sequence's rows can be a run, in a part of a step at the least. */
  boolean canRun(SequencePages sequence) {
    return !pages.expandsPrompts() || sequence.codedPages() <= expanded.room();
  }

  /** Whether they can in this part. */
  boolean canRunHere(SequencePages sequence) {
    return !pages.expandsPrompts() || sequence.codedPages() <= expanded.left();
  }

  int rowsLeft() {
    return mostRows - rows;
  }

  /**
   * Adds a row whose position is reserved.
   *
   * @param wanted whether its logits are
   */
  void add(SequencePages sequence, int token, int position, boolean wanted) {
    sequence.describe(table, position + 1);
    addRow(sequence, token, position, wanted);
  }

  /** Begins a run of so many rows, which are added to it next. */
  void beginRun(SequencePages sequence, int position, int count) {
    int firstEntry = table.entries();
    int firstTable =
        sequence.list(table, position, position + count, pages.expandsPrompts() ? expanded : null);
    int sinks = pages.kind().sinks();
    runs.add(rows, count, position, firstEntry, sequence.codedPages(), sinks, firstTable);
  }

  /** Adds a row to the run that was begun last. */
  void addRow(SequencePages sequence, int token, int position, boolean wanted) {
    places[rows] = sequence.place(position);
    tokens[rows] = token;
    positions[rows] = position;
    if (wanted) {
      outs[outRows++] = rows;
    }
    rows++;
  }

  int rows() {
    return rows;
  }

  private long tokensAt() {
    return 8L * mostRows;
  }

  private long positionsAt() {
    return 12L * mostRows;
  }

  private long outsAt() {
    return 16L * mostRows;
  }

  /** Runs the step, without waiting for it. */
  void run() {
    MemorySegment.copy(places, 0, inputs, JAVA_LONG, 0, rows);
    MemorySegment.copy(tokens, 0, inputs, JAVA_INT, tokensAt(), rows);
    MemorySegment.copy(positions, 0, inputs, JAVA_INT, positionsAt(), rows);
    MemorySegment.copy(outs, 0, inputs, JAVA_INT, outsAt(), outRows);
    deviceInputs.upload(stream, 0, inputs, inputs.byteSize());
    table.upload(stream);
    runs.upload(stream);
    expanded.upload(stream);
    if (table.sequences() > 0) {
      pages.attention().plan(table);
    }
    if (marks == StepMarks.NONE) {
      graphs.run(shape(), this::launch);
    } else {
      marked();
    }
  }

  /** Waits for the step, since its graph goes. */
  private void marked() {
    try (Graph once = stream.capture(this::launch)) {
      once.launch(stream);
      stream.synchronize();
    }
  }

  private StepGraphs.Shape shape() {
    int singles = table.sequences();
    PagedAttention.Cut cut = singles > 0 ? pages.attention().cut() : null;
    return new StepGraphs.Shape(
        pages.kind(), rows, outRows, singles, cut, runs.count(), runBlocks(), expanded.grids());
  }

  /** Of the longest run, for each KV head. */
  private int runBlocks() {
    return runs.count() == 0 ? 0 : pages.prompts().orElseThrow().blocks(runs.mostRows());
  }

  private void attend(LayerOffsets offsets) {
    if (table.sequences() > 0) {
      pages.attention().atLayer(offsets);
      pages.attention().attend(stream, queries.address(), mixed.address(), false);
    }
    if (runs.count() > 0) {
      pages
          .attention()
          .see(
              stream,
              runs,
              new AttentionAid.Call(table, offsets, queries.address(), mixed.address()));
      pages.expand(stream, expanded, offsets.layer());
      pages.prompts().orElseThrow().read(stream, runs, runBlocks(), table, offsets, queries, mixed);
    }
  }

  private void launch() {
    long placesAt = deviceInputs.address();
    long positionsOfRows = placesAt + positionsAt();
    marks.begin(stream);
    launches.embed(weights.embedding(), placesAt + tokensAt(), rows, x);
    marks.end(stream, "embedding");
    DeviceMemory added = null;
    for (int i = 0; i < config.layers(); i++) {
      DeviceWeights.Layer layer = weights.layers().get(i);
      LayerOffsets offsets = pages.offsets(i);
      launches.normalize(x, added, layer.attentionNorm(), rows, 0, narrow);
      marks.end(stream, "add, norm");
      launches.multiply(layer.projections(), narrow, rows, projected);
      marks.end(stream, "product q k v");
      launches.turn(
          projected,
          layer,
          weights.frequencies(),
          positionsOfRows,
          placesAt,
          offsets.halves(),
          queries,
          rows);
      marks.end(stream, "turn, append");
      attend(offsets);
      marks.end(stream, "attention");
      launches.codeHalves(mixed, config.queryHeads() * config.headDim(), rows, narrow);
      marks.end(stream, "round");
      launches.multiply(layer.output(), narrow, rows, update);
      marks.end(stream, "product output");
      launches.normalize(x, update, layer.feedForwardNorm(), rows, 0, narrow);
      marks.end(stream, "add, norm");
      launches.multiply(layer.gateAndUp(), narrow, rows, gateAndUp);
      marks.end(stream, "product gate up");
      launches.activate(gateAndUp, config.feedForward(), rows, wide);
      marks.end(stream, "silu");
      launches.multiply(layer.down(), wide, rows, update);
      marks.end(stream, "product down");
      added = update;
    }
    if (outRows > 0) {
      launches.normalize(x, added, weights.outputNorm(), outRows, placesAt + outsAt(), narrow);
      marks.end(stream, "add, norm");
      launches.multiply(weights.output(), narrow, outRows, logits);
      marks.end(stream, "product logits");
      launches.pickLikeliest(logits, config.vocabulary(), outRows, likeliest);
      marks.end(stream, "likeliest");
    }
  }

  /** Waits for the step; the likeliest tokens of rows whose logits are wanted. */
  int[] likeliest() {
    if (outRows > 0) {
      likeliest.download(stream, 0, oneRow, (long) outRows * Integer.BYTES);
    }
    stream.synchronize();
    int[] found = new int[outRows];
    MemorySegment.copy(oneRow, JAVA_INT, 0, found, 0, outRows);
    return found;
  }

  /** Logits of a row by their index. */
  void logits(int index, float[] out, int at) {
    int columns = config.vocabulary();
    logits.download(stream, 4L * index * columns, oneRow, 4L * columns);
    stream.synchronize();
    MemorySegment.copy(oneRow, JAVA_FLOAT, 0, out, at, columns);
  }

  @Override
  public void close() {
    Closing.all(taken);
  }
}
