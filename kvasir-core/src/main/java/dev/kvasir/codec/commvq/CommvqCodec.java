package dev.kvasir.codec.commvq;

import dev.kvasir.codec.Form;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.StatelessCodec;
import dev.kvasir.kernel.Crew;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.memory.SharedArena;
import java.util.List;
import java.util.Optional;

/**
 * CommVQ: keys as they were before rotation, and values, are sums of rows of codebooks that were
 * trained for the model.
 */
public final class CommvqCodec implements StatelessCodec {
  private static final int TOKENS = Page.TOKENS;

  /** Parts differ in nothing but luck, so a few of them even it out. */
  private static final int PARTS_PER_THREAD = 4;

  /** Below this a codebook is read too often for what is done with it. */
  private static final int FEWEST_TOGETHER = 4;

  private final CommvqShape shape;
  private final Optional<ModelCodebooks> codebooks;
  private final long sharedBytes;
  private final int beam;
  private final KeyReading reading;
  private final Kernels kernels;
  private final Crew crew;

  /**
   * @param codebooks empty to foretell bytes only
   * @param sharedBytes of codebooks; 0 where that is not known
   * @param beam sums that are carried on in the search for codes
   * @param reading how attention reads keys
   * @param kernels that codes are searched with
   * @param crew threads that search
   */
  public CommvqCodec(
      CommvqShape shape,
      Optional<ModelCodebooks> codebooks,
      long sharedBytes,
      int beam,
      KeyReading reading,
      Kernels kernels,
      Crew crew) {
    this.shape = shape;
    this.codebooks = codebooks;
    this.sharedBytes = sharedBytes;
    this.beam = beam;
    this.reading = reading;
    this.kernels = kernels;
    this.crew = crew;
  }

  /** What codes are searched for with; empty where bytes are foretold only. */
  public Optional<ModelCodebooks> codebooks() {
    return codebooks;
  }

  /** Sums that are carried on in the search for codes. */
  public int beam() {
    return beam;
  }

  @Override
  public Page seal(SharedArena memory, int layer, int position, float[] keys, float[] values) {
    ModelCodebooks trained = codebooks.orElseThrow();
    LayerCodebooks books = trained.layers().get(layer);
    int headSize = TOKENS * shape.keyDim();
    crew.run(
        (head, worker) -> trained.order().turnBack(keys, head * headSize, TOKENS, position),
        shape.kvHeads());
    EncodedBlock ofKeys = EncodedBlock.room(shape.kvHeads(), shape.keyStages());
    EncodedBlock ofValues = EncodedBlock.room(shape.kvHeads(), shape.valueStages());
    // An encoder belongs to one thread, and its memory is large beside that of a sequence.
    LayerEncoder[] keyEncoders = new LayerEncoder[crew.size()];
    LayerEncoder[] valueEncoders = new LayerEncoder[crew.size()];
    int stretches = Math.ceilDiv(TOKENS, stretch());
    crew.run(
        (part, worker) -> {
          int from = part / 2 * stretch();
          if (part % 2 == 0) {
            encode(books.keys(), keyEncoders, worker, keys, from, ofKeys);
          } else {
            encode(books.values(), valueEncoders, worker, values, from, ofValues);
          }
        },
        2 * stretches);
    LayerRows rows = trained.rows().get(layer);
    return new CommvqPage(
        memory, shape, rows, reading, trained.rotation(), position, ofKeys, ofValues);
  }

  @Override
  public Page read(SharedArena memory, int layer, Form form) {
    ModelCodebooks trained = codebooks.orElseThrow();
    return CommvqPage.read(
        memory, form, shape, trained.rows().get(layer), reading, trained.rotation());
  }

  /** Tokens that are searched in one go: as few as give every thread some parts to choose from. */
  private int stretch() {
    return Math.clamp(2 * TOKENS / (PARTS_PER_THREAD * crew.size()), FEWEST_TOGETHER, TOKENS);
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
    int end = Math.min(from + stretch(), TOKENS);
    encoders[worker].encode(x, TOKENS, from, end, out.codes(), out.scales());
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
