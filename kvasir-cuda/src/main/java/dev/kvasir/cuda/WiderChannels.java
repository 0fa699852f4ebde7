package dev.kvasir.cuda;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.codec.mixkvq.TierShares;
import dev.kvasir.codec.mixkvq.Tiers;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Optional;

/**
 * What all sequences of {@link MixedFormat} have in common beside their pages: memory for channels
 * that are wider, in extents of one size, and what decides which they are. The device finds how
 * salient channels are, the host divides them.
 */
final class WiderChannels implements AutoCloseable {
  /** Holds several of the largest pieces, 128 channels that are kept. */
  static final int EXTENT_BYTES = 1 << 16;

  /** That are judged at a time: whole runs of one, two, three or four blocks. */
  private static final int MOST_BLOCKS = 12;

  private final MixedFormat format;
  private final AttentionShape shape;
  private final int layers;
  private final PagePool extents;
  private final Launch judge;
  private final Arena arena = Arena.ofShared();
  private final DeviceMemory deviceSaliences; // (runs, layers, kvHeads, headDim)
  private final MemorySegment saliences; // as they are read back, under the lock

  WiderChannels(
      KernelModule module, MixedFormat format, AttentionShape shape, int layers, PagePool extents) {
    this.format = format;
    this.shape = shape;
    this.layers = layers;
    this.extents = extents;
    this.judge =
        new Launch(module.kernel("judge_mixed_d" + shape.headDim()), 8, 8, 4, 8, 8, 4, 4, 8)
            .block(shape.headDim())
            .argument(2, SequencePages.BLOCK_PAGES * format.blocksTogether());
    int runs = MOST_BLOCKS / format.blocksTogether();
    this.saliences = arena.allocate((long) Float.BYTES * runs * channels(), 64);
    this.deviceSaliences = module.context().allocate(saliences.byteSize());
  }

  PagePool extents() {
    return extents;
  }

  /** Heads of all layers. */
  int heads() {
    return layers * shape.kvHeads();
  }

  int headDim() {
    return shape.headDim();
  }

  /** Of all keys of a token. */
  private int channels() {
    return heads() * shape.headDim();
  }

  /**
   * Bytes of a block's wider channels.
   *
   * @param shares of channels that usually are; all are kept where nobody knows
   */
  long foretold(Optional<TierShares> shares) {
    int dim = shape.headDim();
    int kept = shares.map(each -> (int) Math.ceil(dim * each.high())).orElse(dim);
    int mid = shares.map(each -> (int) Math.ceil(dim * each.mid())).orElse(0);
    return (long) SequencePages.BLOCK_PAGES * heads() * MixedPage.widerBytes(mid, kept);
  }

  /**
   * Divides the channels of blocks that are about to be packed; waits for the device.
   *
   * @param halves pages of whole runs
   * @param sums what queries look at; null where that does not matter
   * @return by block // (blocks, layers * kvHeads)
   */
  Tiers[][] divide(KindPages home, long[] halves, QuerySums sums) {
    Tiers[][] tiers = new Tiers[halves.length / SequencePages.BLOCK_PAGES][];
    for (int block = 0; block < tiers.length; block += MOST_BLOCKS) {
      int count = Math.min(MOST_BLOCKS, tiers.length - block);
      int first = block * SequencePages.BLOCK_PAGES;
      long[] part = Arrays.copyOfRange(halves, first, first + count * SequencePages.BLOCK_PAGES);
      float[] judged = new float[count / format.blocksTogether() * channels()];
      home.move(() -> judge(home, part, sums, judged));
      divide(judged, tiers, block, count);
    }
    return tiers;
  }

  private void divide(float[] judged, Tiers[][] tiers, int firstBlock, int blocks) {
    for (int block = 0; block < blocks; block++) {
      int run = block / format.blocksTogether();
      Tiers[] ofHeads = new Tiers[heads()];
      for (int head = 0; head < ofHeads.length; head++) {
        int at = run * channels() + head * shape.headDim();
        ofHeads[head] = Tiers.of(judged, at, shape.headDim(), format.thresholds());
      }
      tiers[firstBlock + block] = ofHeads;
    }
  }

  /**
   * @param judged saliences // (runs, layers, kvHeads, headDim)
   */
  private void judge(KindPages home, long[] part, QuerySums sums, float[] judged) {
    judge
        .grid(judged.length / channels(), shape.kvHeads(), layers)
        .argument(1, home.halves().layerStride())
        .argument(7, deviceSaliences.address());
    if (sums != null) {
      judge
          .argument(3, sums.address())
          .argument(4, home.tables().layerStride())
          .argument(5, sums.which())
          .argument(6, sums.tokens() * shape.queriesPerKvHead());
    }
    home.moves()
        .move(
            part,
            part,
            (stream, pages, pairs) -> {
              judge.argument(0, pairs).on(stream);
              long bytes = (long) Float.BYTES * judged.length;
              deviceSaliences.download(stream, 0, saliences, bytes);
              stream.synchronize();
            });
    MemorySegment.copy(saliences, JAVA_FLOAT, 0, judged, 0, judged.length);
  }

  @Override
  public void close() {
    Closing.all(deviceSaliences, Closing.once(arena));
  }
}
