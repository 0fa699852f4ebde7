package dev.kvasir.codec.mixkvq;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageCodec;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.page.Bf16Codes;
import dev.kvasir.page.CodeMatrix;
import dev.kvasir.page.HeadShape;
import dev.kvasir.page.KeyChannels;
import dev.kvasir.page.RowScaledCodes;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.ToLongFunction;

/**
 * MixKVQ: key channels with large queries and a large 2-bit error get four bits or stay in 16-bit
 * floats. The other channels have two bits. Values have two bits, per token.
 */
public final class MixkvqCodec implements PageCodec {
  private static final int LOW_BITS = 2;
  private static final int MID_BITS = 4;
  private static final int HALF_BITS = 16;

  private final MixkvqShape shape;
  private final MixkvqOptions options;
  private final Optional<TierShares> measuredShares;
  private final SalienceObserver observer;
  private final CodeMatrix values;

  /** Shapes by tier sizes, {@code high << 16 | mid}, shared by pages. */
  private final Map<Integer, HeadShape> heads = new ConcurrentHashMap<>();

  /**
   * Creates a codec.
   *
   * @param measured typical tier sizes, if known
   */
  public MixkvqCodec(MixkvqShape shape, MixkvqOptions options, Optional<TierShares> measured) {
    this(shape, options, measured, (layer, steps, salience) -> {});
  }

  private MixkvqCodec(
      MixkvqShape shape,
      MixkvqOptions options,
      Optional<TierShares> measured,
      SalienceObserver observer) {
    this.shape = shape;
    this.options = options;
    this.measuredShares = measured;
    this.observer = observer;
    this.values =
        switch (shape.values()) {
          case STORED ->
              new RowScaledCodes(
                  options.sliceTokens(), shape.valueDim(), LOW_BITS, options.group());
          case IN_KEYS -> new KeyChannels(Page.TOKENS, shape.valueDim());
        };
  }

  /** Returns a copy with an observer. */
  public MixkvqCodec withObserver(SalienceObserver observer) {
    return new MixkvqCodec(shape, options, measuredShares, observer);
  }

  SalienceObserver observer() {
    return observer;
  }

  MixkvqShape shape() {
    return shape;
  }

  MixkvqOptions options() {
    return options;
  }

  @Override
  public SequenceCodec newSequence(MemoryPool pool) {
    return new MixkvqSequence(this, pool);
  }

  @Override
  public SequenceCodec resumeSequence(MemoryPool pool, byte[] state) {
    return MixkvqSequence.resumed(this, pool, state);
  }

  /** Returns the number of slices of a page. */
  int slices() {
    return Page.TOKENS / options.sliceTokens();
  }

  /** Returns the shape of a head with the given tier sizes, in one slice of a page. */
  HeadShape head(int high, int mid) {
    return heads.computeIfAbsent(high << 16 | mid, sizes -> newHead(high, mid));
  }

  private HeadShape newHead(int high, int mid) {
    List<CodeMatrix> keys = new ArrayList<>();
    int tokens = options.sliceTokens();
    if (high > 0) {
      keys.add(new Bf16Codes(high, tokens));
    }
    if (mid > 0) {
      keys.add(new RowScaledCodes(mid, tokens, MID_BITS, options.group()));
    }
    int low = shape.keyDim() - high - mid;
    if (low > 0) {
      keys.add(new RowScaledCodes(low, tokens, LOW_BITS, options.group()));
    }
    return new HeadShape(keys, keys.size() > 1, values);
  }

  /**
   * Returns the shape of a head with the same tier sizes as a stored one, if the channels match.
   */
  HeadShape headLike(HeadShape other) {
    return other.keyDim() == shape.keyDim()
        ? head(channels(other, HALF_BITS), channels(other, MID_BITS))
        : head(0, 0);
  }

  private static int channels(HeadShape head, int bits) {
    return head.keys().stream()
        .filter(block -> block.bits() == bits)
        .mapToInt(CodeMatrix::rows)
        .sum();
  }

  @Override
  public boolean hasIndependentLayers() {
    return true;
  }

  @Override
  public boolean allowsDeferredCheck() {
    return true;
  }

  @Override
  public int blocksPerGroup() {
    return options.blocksPerGroup();
  }

  @Override
  public SizeAccuracy sizes() {
    return measuredShares.isPresent() ? SizeAccuracy.TYPICAL : SizeAccuracy.AT_MOST;
  }

  @Override
  public long pageBytes() {
    return estimate(HeadShape::bytes);
  }

  @Override
  public long codeBytes() {
    return estimate(HeadShape::codeBytes);
  }

  private long estimate(ToLongFunction<HeadShape> size) {
    return slices()
        * measuredShares
            .map(shares -> typicalBytes(shares, size))
            .orElseGet(() -> shape.kvHeads() * size.applyAsLong(largest()));
  }

  /**
   * Returns the largest possible shape: a single 4-bit channel takes a whole quad, as much as a
   * 16-bit one, and adds a channel order.
   */
  private HeadShape largest() {
    return head(shape.keyDim() - 1, 1);
  }

  /** Returns the bytes of a slice of a layer with measured tiers, spread evenly over the heads. */
  private long typicalBytes(TierShares shares, ToLongFunction<HeadShape> size) {
    long sum = 0;
    for (int head = 0; head < shape.kvHeads(); head++) {
      int high = headShare(shares.high(), head);
      int mid = headShare(shares.mid(), head);
      int filled = Math.min(mid + Tiers.freeSlots(mid), shape.keyDim() - high);
      sum += size.applyAsLong(head(high, filled));
    }
    return sum;
  }

  private int headShare(double share, int head) {
    long total = Math.round(share * shape.channels());
    return (int) (total * (head + 1) / shape.kvHeads() - total * head / shape.kvHeads());
  }

  @Override
  public long tableBytes(int quantizedBlocks) {
    return options.salience() == Salience.QUERY
        ? shape.layers() * ChannelSums.bytesFor(shape.channels())
        : 0;
  }
}
