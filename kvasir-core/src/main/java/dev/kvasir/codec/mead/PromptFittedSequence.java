package dev.kvasir.codec.mead;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.QuantizationBatch;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.codec.SnapshotHeader;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.memory.SharedArena;

/**
 * A sequence that is fitted to its first page. The fit depends on the tokens up to the end of that
 * page alone, so the steps in which a prompt is read do not matter.
 *
 * <pre>
 * position 0        sinks                          sinks + 128
 *          | sinks  | first page: keys and values  | ...
 *                     queries of every 8th token
 * </pre>
 */
final class PromptFittedSequence extends MeadSequence {
  private static final int SAMPLE_DISTANCE = Page.TOKENS / PromptStatistics.SAMPLES;

  private final PromptFittedCodec fitting;
  private final PromptStatistics statistics;
  private MeadCodec fitted; // null before the first page
  private int fittedTo; // end of the first page; 0 before it

  /**
   * @param state owned by this sequence
   * @param fittedTo end of the page that the sequence is fitted to; 0 without one
   * @param statistics owned by this sequence if this succeeds
   */
  PromptFittedSequence(
      PromptFittedCodec fitting,
      MeadState state,
      int fittedTo,
      PromptStatistics statistics,
      MemoryPool pool) {
    super(fitting.unfitted(), state, pool);
    this.fitting = fitting;
    this.statistics = statistics;
    this.fittedTo = fittedTo;
    this.fitted = fittedTo > 0 ? fitting.fitted(statistics) : null;
  }

  private PromptFittedSequence(
      PromptFittedCodec fitting, PromptStatistics statistics, MemoryPool pool) {
    super(fitting.unfitted(), pool);
    this.fitting = fitting;
    this.statistics = statistics;
  }

  private PromptFittedSequence(PromptFittedSequence parent) {
    super(parent);
    this.fitting = parent.fitting;
    this.statistics = parent.statistics.fork();
    this.fitted = parent.fitted;
    this.fittedTo = parent.fittedTo;
  }

  static PromptFittedSequence of(PromptFittedCodec fitting, MemoryPool pool) {
    PromptStatistics statistics = new PromptStatistics(fitting.fitter().sizes(), pool);
    try {
      return new PromptFittedSequence(fitting, statistics, pool);
    } catch (RuntimeException | Error e) {
      statistics.close();
      throw e;
    }
  }

  @Override
  MeadCodec pageCodec() {
    if (fitted == null) {
      throw new IllegalStateException("a page comes before anything was learned from a batch");
    }
    return fitted;
  }

  @Override
  public boolean observesQueries() {
    return true;
  }

  @Override
  public void observe(int layer, int position, float[] queries, int at) {
    int token = position - codec().sinks();
    if (token >= 0 && token < Page.TOKENS && token % SAMPLE_DISTANCE == SAMPLE_DISTANCE - 1) {
      int shared = fitting.fitter().queriesPerKvHead();
      statistics.addQueries(layer, token / SAMPLE_DISTANCE, queries, at, shared);
    }
  }

  @Override
  public void learn(QuantizationBatch batch) {
    if (fitted == null) {
      fitting.fitter().measure(batch, statistics);
      fitted = fitting.fitted(statistics);
      fittedTo = batch.position() + Page.TOKENS;
    }
  }

  @Override
  public byte[] serializeState() {
    return currentState().serializeFitted(codec(), fittedTo, statistics);
  }

  @Override
  public Page deserialize(SharedArena memory, int layer, Snapshot snapshot) {
    if (fitted == null) {
      throw SnapshotHeader.PAGE.invalid("belongs to a sequence whose state has no fitted tables");
    }
    return super.deserialize(memory, layer, snapshot);
  }

  @Override
  public long tableBytes() {
    return super.tableBytes() + statistics.bytes();
  }

  @Override
  public PromptFittedSequence fork() {
    return new PromptFittedSequence(this);
  }

  @Override
  public void truncate(int length) {
    super.truncate(length);
    if (length < fittedTo) {
      fitted = null;
      fittedTo = 0;
    }
  }

  @Override
  public void close() {
    super.close();
    statistics.close();
  }
}
