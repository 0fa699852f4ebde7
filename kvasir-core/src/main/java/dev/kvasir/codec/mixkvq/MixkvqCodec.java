package dev.kvasir.codec.mixkvq;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageCodec;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.page.CodeGrid;
import dev.kvasir.page.EntryScaledCodes;
import dev.kvasir.page.HalfCodes;
import dev.kvasir.page.HeadShape;
import dev.kvasir.page.KeyChannels;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.ToLongFunction;

/**
 * MixKVQ: channels of keys that queries look at, and that a code of two bits would distort, get
 * four bits or are kept as they are. Values have two bits, token by token.
 */
public final class MixkvqCodec implements PageCodec {
  private static final int LOW_BITS = 2;
  private static final int MID_BITS = 4;
  private static final int KEPT_BITS = 16;

  private final MixkvqShape shape;
  private final MixkvqSettings settings;
  private final Optional<TierShares> measured;
  private final SalienceWatch watch;
  private final CodeGrid values;

  /** Pages with tiers of the same sizes share a shape, by high << 16 | mid. */
  private final Map<Integer, HeadShape> heads = new ConcurrentHashMap<>();

  /**
   * @param measured how large tiers usually are, where that is known
   */
  public MixkvqCodec(MixkvqShape shape, MixkvqSettings settings, Optional<TierShares> measured) {
    this(shape, settings, measured, (layer, steps, salience) -> {});
  }

  private MixkvqCodec(
      MixkvqShape shape,
      MixkvqSettings settings,
      Optional<TierShares> measured,
      SalienceWatch watch) {
    this.shape = shape;
    this.settings = settings;
    this.measured = measured;
    this.watch = watch;
    this.values =
        switch (shape.values()) {
          case STORED ->
              new EntryScaledCodes(Page.TOKENS, shape.valueDim(), LOW_BITS, settings.group());
          case IN_KEYS -> new KeyChannels(Page.TOKENS, shape.valueDim());
        };
  }

  /** The same, with somebody who watches. */
  public MixkvqCodec watchedBy(SalienceWatch watcher) {
    return new MixkvqCodec(shape, settings, measured, watcher);
  }

  SalienceWatch watch() {
    return watch;
  }

  MixkvqShape shape() {
    return shape;
  }

  MixkvqSettings settings() {
    return settings;
  }

  @Override
  public SequenceCodec begin(MemoryPool pool) {
    return new MixkvqSequence(this, pool);
  }

  @Override
  public SequenceCodec resume(MemoryPool pool, byte[] state) {
    return MixkvqSequence.resumed(this, pool, state);
  }

  /** What a head with tiers of these sizes is packed to. */
  HeadShape head(int high, int mid) {
    return heads.computeIfAbsent(high << 16 | mid, sizes -> newHead(high, mid));
  }

  private HeadShape newHead(int high, int mid) {
    List<CodeGrid> keys = new ArrayList<>();
    if (high > 0) {
      keys.add(new HalfCodes(high, Page.TOKENS));
    }
    if (mid > 0) {
      keys.add(new EntryScaledCodes(mid, Page.TOKENS, MID_BITS, settings.group()));
    }
    int low = shape.keyDim() - high - mid;
    if (low > 0) {
      keys.add(new EntryScaledCodes(low, Page.TOKENS, LOW_BITS, settings.group()));
    }
    return new HeadShape(keys, keys.size() > 1, values);
  }

  /** What a head with tiers of the same sizes is packed to, where it has as many channels. */
  HeadShape headLike(HeadShape other) {
    return other.keyDim() == shape.keyDim()
        ? head(channels(other, KEPT_BITS), channels(other, MID_BITS))
        : head(0, 0);
  }

  private static int channels(HeadShape head, int bits) {
    return head.keys().stream()
        .filter(block -> block.bits() == bits)
        .mapToInt(CodeGrid::entries)
        .sum();
  }

  @Override
  public boolean packsLayersApart() {
    return true;
  }

  @Override
  public boolean canCheckLater() {
    return true;
  }

  @Override
  public int blocksTogether() {
    return settings.blocksTogether();
  }

  @Override
  public Sizes sizes() {
    return measured.isPresent() ? Sizes.TYPICAL : Sizes.AT_MOST;
  }

  @Override
  public long pageBytes() {
    return foretold(HeadShape::bytes);
  }

  @Override
  public long codeBytes() {
    return foretold(HeadShape::codeBytes);
  }

  private long foretold(ToLongFunction<HeadShape> size) {
    return measured
        .map(shares -> typical(shares, size))
        .orElseGet(() -> shape.kvHeads() * size.applyAsLong(largest()));
  }

  /** One channel of four bits takes a whole quad, as much as one that is kept, and an order. */
  private HeadShape largest() {
    return head(shape.keyDim() - 1, 1);
  }

  /** A layer whose channels are in tiers as was measured, spread evenly over the heads. */
  private long typical(TierShares shares, ToLongFunction<HeadShape> size) {
    long sum = 0;
    for (int head = 0; head < shape.kvHeads(); head++) {
      int high = part(shares.high(), head);
      int mid = part(shares.mid(), head);
      int filled = Math.min(mid + Tiers.roomIn(mid), shape.keyDim() - high);
      sum += size.applyAsLong(head(high, filled));
    }
    return sum;
  }

  private int part(double share, int head) {
    long inAll = Math.round(share * shape.channels());
    return (int) (inAll * (head + 1) / shape.kvHeads() - inAll * head / shape.kvHeads());
  }

  @Override
  public long tableBytes(int sealedBlocks) {
    return settings.salience() == Salience.QUERY
        ? shape.layers() * ChannelSums.bytesFor(shape.channels())
        : 0;
  }
}
