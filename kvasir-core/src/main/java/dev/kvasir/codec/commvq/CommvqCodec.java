package dev.kvasir.codec.commvq;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.codec.StatelessCodec;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.memory.SharedArena;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** CommVQ: keys before rotation, and values, as sums of codebook rows trained for the model. */
public final class CommvqCodec implements StatelessCodec {
  private static final int TOKENS = Page.TOKENS;

  /** Tasks vary in duration, so a few per thread balance the load. */
  private static final int TASKS_PER_THREAD = 4;

  /** With fewer tokens, reading a codebook costs too much per token. */
  private static final int MIN_TOKENS_PER_TASK = 4;

  /** With more heads, the weights of their query rows by codebook row leave the L1 cache. */
  private static final int MAX_HEADS_PER_PASS = 4;

  private final CommvqShape shape;
  private final Optional<ModelCodebooks> codebooks;
  private final long sharedBytes;
  private final int beam;
  private final KeyScoring keyScoring;
  private final Kernels kernels;
  private final WorkerPool workers;

  /**
   * Creates a codec.
   *
   * @param codebooks empty for size estimates only
   * @param sharedBytes bytes of codebooks; 0 if unknown
   * @param beam width of the beam search for codes
   * @param keyScoring how attention scores keys
   * @param kernels kernels for the search
   * @param workers threads for the search
   */
  public CommvqCodec(
      CommvqShape shape,
      Optional<ModelCodebooks> codebooks,
      long sharedBytes,
      int beam,
      KeyScoring keyScoring,
      Kernels kernels,
      WorkerPool workers) {
    this.shape = shape;
    this.codebooks = codebooks;
    this.sharedBytes = sharedBytes;
    this.beam = beam;
    this.keyScoring = keyScoring;
    this.kernels = kernels;
    this.workers = workers;
  }

  /** Returns the codebooks; empty for size estimates only. */
  public Optional<ModelCodebooks> codebooks() {
    return codebooks;
  }

  /** Returns the width of the beam search for codes. */
  public int beam() {
    return beam;
  }

  @Override
  public Page quantize(SharedArena memory, int layer, int position, float[] keys, float[] values) {
    ModelCodebooks trained = codebooks.orElseThrow();
    int headSize = TOKENS * shape.keyDim();
    PairOrder order = trained.order(layer);
    workers.run(
        (head, worker) -> order.unrotate(keys, head * headSize, TOKENS, position), shape.kvHeads());
    EncodedBlock ofKeys = EncodedBlock.allocate(shape.kvHeads(), shape.keys());
    EncodedBlock ofValues = EncodedBlock.allocate(shape.groups(), shape.values());
    // An encoder belongs to one thread, and its memory is large compared to that of a sequence.
    LayerEncoder[] keyEncoders = new LayerEncoder[workers.size()];
    List<KeyCodebook> keyCodebooks = trained.layers().get(layer).keys();
    EncodingTask valueTask =
        trained.encoders().isEmpty()
            ? searchTask(trained.layers().get(layer), values, ofValues)
            : networkTask(trained.encoders().get(layer), values, ofValues);
    int tasks = Math.ceilDiv(TOKENS, tokensPerTask());
    workers.run(
        (part, worker) -> {
          int from = part / 2 * tokensPerTask();
          if (part % 2 == 0) {
            encode(keyCodebooks, keyEncoders, worker, keys, from, ofKeys);
          } else {
            valueTask.encode(worker, from);
          }
        },
        2 * tasks);
    CompactLayerCodebooks layerCodebooks = trained.rows().get(layer);
    return new CommvqPage(
        memory,
        shape,
        layerCodebooks,
        keyScoring,
        trained.rotations().of(layer),
        position,
        ofKeys,
        ofValues);
  }

  /** Encodes the values of the tokens of one task. */
  private interface EncodingTask {
    void encode(int worker, int from);
  }

  private EncodingTask searchTask(LayerCodebooks books, float[] values, EncodedBlock out) {
    HeadGroups groups = books.valueGroups();
    float[] joined = groups.heads() == 1 ? values : new float[values.length];
    LayerEncoder[] encoders = new LayerEncoder[workers.size()];
    return (worker, from) -> {
      if (joined != values) {
        groups.join(values, TOKENS, from, endOfTask(from), joined);
      }
      encode(books.values(), encoders, worker, joined, from, out);
    };
  }

  private EncodingTask networkTask(ValueEncoder network, float[] values, EncodedBlock out) {
    BitBlockEncoder encoder = new BitBlockEncoder(kernels, network, workers.size());
    float[] joined = new float[values.length];
    return (worker, from) -> encoder.encode(worker, values, from, endOfTask(from), joined, out);
  }

  @Override
  public Page deserialize(SharedArena memory, int layer, Snapshot snapshot) {
    ModelCodebooks trained = codebooks.orElseThrow();
    return CommvqPage.deserialize(
        memory,
        snapshot,
        shape,
        trained.rows().get(layer),
        keyScoring,
        trained.rotations().of(layer));
  }

  /** Returns the tokens encoded by one task: few enough to give every thread several tasks. */
  private int tokensPerTask() {
    return Math.clamp(
        2 * TOKENS / (TASKS_PER_THREAD * workers.size()), MIN_TOKENS_PER_TASK, TOKENS);
  }

  private int endOfTask(int from) {
    return Math.min(from + tokensPerTask(), TOKENS);
  }

  private void encode(
      List<? extends Codebook> heads,
      LayerEncoder[] encoders,
      int worker,
      float[] x,
      int from,
      EncodedBlock out) {
    if (encoders[worker] == null) {
      encoders[worker] = new LayerEncoder(kernels, heads, beam);
    }
    encoders[worker].encode(x, TOKENS, from, endOfTask(from), out.codes(), out.scales());
  }

  @Override
  public int headsPerPass() {
    return IntStream.iterate(MAX_HEADS_PER_PASS, heads -> heads - 1)
        .filter(heads -> shape.valueHeads() % heads == 0)
        .findFirst()
        .orElseThrow();
  }

  @Override
  public long pageBytes() {
    return shape.bytes();
  }

  @Override
  public long codeBytes() {
    return shape.codeBytes();
  }

  @Override
  public long sharedBytes() {
    return sharedBytes;
  }
}
