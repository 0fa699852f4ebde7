package dev.kvasir.codec.commvq;

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

  @Override
  public Page seal(SharedArena memory, int layer, int position, float[] keys, float[] values) {
    ModelCodebooks trained = codebooks.orElseThrow();
    LayerCodebooks books = trained.layers().get(layer);
    for (int head = 0; head < shape.kvHeads(); head++) {
      trained.order().turnBack(keys, head * TOKENS * shape.headDim(), TOKENS, position);
    }
    EncodedBlock[] sides = new EncodedBlock[2];
    crew.run(
        (side, worker) ->
            sides[side] = side == 0 ? encode(books.keys(), keys) : encode(books.values(), values),
        sides.length);
    return new CommvqPage(
        memory,
        shape,
        trained.rows().get(layer),
        reading,
        trained.rotation(),
        position,
        sides[0],
        sides[1]);
  }

  @Override
  public Page read(int layer, byte[] form) {
    ModelCodebooks trained = codebooks.orElseThrow();
    return CommvqPage.read(form, shape, trained.rows().get(layer), reading, trained.rotation());
  }

  /** An encoder belongs to one thread, and its memory is large beside that of a sequence. */
  private EncodedBlock encode(List<? extends Codebook> heads, float[] x) {
    short[] codes = new short[shape.kvHeads() * TOKENS * shape.stages()];
    short[] scales = new short[TOKENS];
    new LayerEncoder(kernels, heads, beam).encode(x, TOKENS, codes, scales);
    return new EncodedBlock(codes, scales);
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
