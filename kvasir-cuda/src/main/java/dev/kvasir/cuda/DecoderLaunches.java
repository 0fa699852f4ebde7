package dev.kvasir.cuda;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.kvasir.model.ModelConfig;
import dev.kvasir.model.RopeLayout;
import java.lang.foreign.MemorySegment;

/**
 * The kernels of a decoder's step beside attention. Each may begin while the one ahead of it ends,
 * but for the first of a step: pages and what the host brings are final before it.
 */
final class DecoderLaunches {
  private static final int ROW_THREADS = 256;
  private static final int PRODUCT_THREADS = 256;

  /** Columns of eight rows that a product's block takes, and its tiles of 16 outputs. */
  private static final int[] PRODUCT_COLUMNS = {1, 2, 4};

  private static final int[] PRODUCT_TILES = {1, 2, 2};
  private static final int TURNING_BYTES = 72;

  private final Stream stream;
  private final boolean early;
  private final Launch embed;
  private final Launch normalize;
  private final Launch activate;
  private final Launch codeHalves;
  private final Launch turn;
  private final Launch likeliest;
  private final Launch[] products = new Launch[PRODUCT_COLUMNS.length];

  /** Rows as codes, with a scale for 32 of them. */
  record CodedRows(DeviceMemory codes, DeviceMemory scales) implements AutoCloseable {
    static CodedRows of(Context context, long rows, long columns) {
      return new CodedRows(
          context.allocate(rows * columns), context.allocate(rows * columns / 32 * Float.BYTES));
    }

    @Override
    public void close() {
      codes.close();
      scales.close();
    }
  }

  DecoderLaunches(KernelModule module, Stream stream, ModelConfig config) {
    this.stream = stream;
    this.early = module.context().device().generation() >= 90;
    this.embed = new Launch(module.kernel("embed_q8"), 16, 8, 4, 8).block(ROW_THREADS);
    this.normalize =
        new Launch(module.kernel("add_and_normalize"), 8, 8, 8, 4, 4, 8, 8, 8).block(ROW_THREADS);
    this.activate = new Launch(module.kernel("activate"), 8, 4, 8, 8).block(ROW_THREADS);
    this.codeHalves = new Launch(module.kernel("code_halves"), 8, 4, 8, 8).block(ROW_THREADS);
    this.likeliest = new Launch(module.kernel("likeliest"), 8, 4, 8).block(ROW_THREADS);
    this.turn =
        new Launch(module.kernel("turn_d" + config.headDim()), TURNING_BYTES)
            .block(config.headDim() / 2);
    for (int i = 0; i < products.length; i++) {
      products[i] =
          new Launch(
                  module.kernel("multiply_q8_columns" + PRODUCT_COLUMNS[i]), 16, 8, 8, 4, 4, 4, 8)
              .block(PRODUCT_THREADS);
    }
    turn.arguments().set(JAVA_INT, 56, config.queryHeads());
    turn.arguments().set(JAVA_INT, 60, config.kvHeads());
    turn.arguments().set(JAVA_INT, 64, config.rope().dimensions() / 2);
    turn.arguments().set(JAVA_INT, 68, config.rope().layout() == RopeLayout.NEIGHBOURS ? 1 : 0);
  }

  /** The first of a step. */
  void embed(DeviceMatrix embedding, long tokens, int rows, DeviceMemory x) {
    embed
        .grid(rows, 1, 1)
        .argument(0, embedding.codes().address(), embedding.scales().address())
        .argument(1, tokens)
        .argument(2, embedding.columns())
        .argument(3, x.address())
        .on(stream);
  }

  /**
   * @param update that is added first; null for none
   * @param rowOf which rows, on the device; 0 for all
   */
  void normalize(
      DeviceMemory x,
      DeviceMemory update,
      DeviceMemory weight,
      ModelConfig config,
      int rows,
      long rowOf,
      CodedRows out) {
    normalize
        .grid(rows, 1, 1)
        .argument(0, x.address())
        .argument(1, update == null ? 0 : update.address())
        .argument(2, weight.address())
        .argument(4, config.hidden())
        .argument(5, rowOf)
        .argument(6, out.codes().address())
        .argument(7, out.scales().address());
    normalize.argument(3, Float.floatToRawIntBits(config.normEpsilon())).early(early).on(stream);
  }

  /** Up to 32 rows at a time: weights are read once for them. */
  void multiply(DeviceMatrix matrix, CodedRows rows, int count, DeviceMemory out) {
    int kind = 0;
    while (kind + 1 < PRODUCT_COLUMNS.length && 8 * PRODUCT_COLUMNS[kind] < count) {
      kind++;
    }
    products[kind]
        .grid(
            Math.ceilDiv(matrix.rows(), 16 * PRODUCT_TILES[kind]),
            Math.ceilDiv(count, 8 * PRODUCT_COLUMNS[kind]),
            1)
        .argument(0, matrix.codes().address(), matrix.scales().address())
        .argument(1, rows.codes().address())
        .argument(2, rows.scales().address())
        .argument(3, count)
        .argument(4, matrix.columns())
        .argument(5, matrix.rows())
        .argument(6, out.address())
        .early(early)
        .on(stream);
  }

  void pickLikeliest(DeviceMemory logits, int vocabulary, int rows, DeviceMemory tokens) {
    likeliest
        .grid(rows, 1, 1)
        .argument(0, logits.address())
        .argument(1, vocabulary)
        .argument(2, tokens.address())
        .early(early)
        .on(stream);
  }

  void activate(DeviceMemory gateAndUp, int columns, int rows, CodedRows out) {
    activate
        .grid(rows, 1, 1)
        .argument(0, gateAndUp.address())
        .argument(1, columns)
        .argument(2, out.codes().address())
        .argument(3, out.scales().address())
        .early(early)
        .on(stream);
  }

  void codeHalves(DeviceMemory x, int columns, int rows, CodedRows out) {
    codeHalves
        .grid(rows, 1, 1)
        .argument(0, x.address())
        .argument(1, columns)
        .argument(2, out.codes().address())
        .argument(3, out.scales().address())
        .early(early)
        .on(stream);
  }

  /**
   * Biases, rotation, queries to halves, keys and values to their pages.
   *
   * @param positions on the device, a u32 for each row
   * @param places on the device, as {@link RowStore#append} wants them
   */
  void turn(
      DeviceMemory projected,
      DeviceMemory bias,
      DeviceMemory frequencies,
      long positions,
      long places,
      long layerOffset,
      DeviceMemory queries,
      int rows) {
    MemorySegment argument = turn.arguments();
    argument.set(JAVA_LONG, 0, projected.address());
    argument.set(JAVA_LONG, 8, bias == null ? 0 : bias.address());
    argument.set(JAVA_LONG, 16, frequencies.address());
    argument.set(JAVA_LONG, 24, positions);
    argument.set(JAVA_LONG, 32, places);
    argument.set(JAVA_LONG, 40, layerOffset);
    argument.set(JAVA_LONG, 48, queries.address());
    int heads = argument.get(JAVA_INT, 56) + 2 * argument.get(JAVA_INT, 60);
    turn.grid(rows, heads, 1).early(early).on(stream);
  }
}
