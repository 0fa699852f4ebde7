package dev.kvasir.codec.mead;

import dev.kvasir.codec.LayerRotations;
import dev.kvasir.codec.PageCodec;
import dev.kvasir.kernel.NibbleRows;
import dev.kvasir.kernel.RowCodeLayout;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * The tables and bit widths of a Mead cache, for implementations on other devices. Keys are in pair
 * order: the first channels of all RoPE pairs, then the second ones. Values are components. Callers
 * must not change arrays.
 */
public final class MeadParameters {
  /** Saliency tiers, from the one with the most tokens to the one with the fewest. */
  public static final int TIERS = SaliencyTier.COUNT;

  private final MeadCodec codec;
  private final MeadTables tables;

  private MeadParameters(MeadCodec codec) {
    this.codec = codec;
    this.tables = codec.tables();
  }

  /** Returns the parameters of a codec that never requantizes; empty for any other codec. */
  public static Optional<MeadParameters> of(PageCodec codec) {
    return codec instanceof MeadCodec mead && !mead.rates().isEmpty()
        ? Optional.of(new MeadParameters(mead))
        : Optional.empty();
  }

  /** Returns the number of tokens of a page in a tier. */
  public static int tokens(int tier) {
    return SaliencyTier.of(tier).tokens();
  }

  /**
   * Returns the smallest deviation of a vector's residuals, in units of their usual deviation, at
   * which the encoder starts with each scale; the first is zero.
   */
  public static double[] scaleThresholds() {
    return ScaleThresholds.of();
  }

  /** Returns the step of codes of some bits for residuals of deviation 1. */
  public static float unitStep(int bits) {
    return UnitVarianceSteps.step(bits);
  }

  public int layers() {
    return tables.sizes().layers();
  }

  public int kvHeads() {
    return tables.sizes().kvHeads();
  }

  /** Returns the channels of a head; empty if keys and values differ or are padded. */
  public Optional<Integer> headDim() {
    MeadSizes sizes = tables.sizes();
    boolean isUniform =
        sizes.keyDim() == sizes.valueDim()
            && sizes.keyWidth() == sizes.keyDim()
            && sizes.valueWidth() == sizes.valueDim();
    return isUniform ? Optional.of(sizes.keyDim()) : Optional.empty();
  }

  public LayerRotations rotations() {
    return tables.rotations();
  }

  public TableKind kind() {
    return tables.kind();
  }

  /** Returns whether a page stores the mean quantization error of its values. */
  public boolean storesMeanErrors() {
    return codec.storesMeanErrors();
  }

  /** Returns whether keys and values of a layer are looked up by token id. */
  public boolean isTokenDetermined(int layer) {
    return tables.isTokenDetermined(layer);
  }

  /** Returns whether sequences must know their token ids. */
  public boolean needsTokenIds() {
    return tables.needsTokenIds();
  }

  /** Returns the table row of each token id; empty unless the kind is {@link TableKind#TOKENS}. */
  public int[] tokenRows() {
    return tables.tokenRows();
  }

  /** Returns the first layer's keys and values by token id; empty if that layer is quantized. */
  public Optional<FirstLayer> firstLayer() {
    return tables
        .firstLayer()
        .map(rows -> new FirstLayer(rows.vocabulary(), rows.keys(), rows.values()));
  }

  /**
   * Keys before RoPE and values of the first layer, as halves.
   *
   * @param keys (vocabulary, kvHeads, headDim)
   * @param values (vocabulary, kvHeads, headDim)
   */
  public record FirstLayer(int vocabulary, MemorySegment keys, MemorySegment values) {}

  public Head head(int layer, int kvHead) {
    return new Head(
        tables.head(layer, kvHead), codec.rates().getFirst().layers().get(layer), kvHead);
  }

  /** The tables and bit widths of one KV head. */
  public static final class Head {
    private final HeadTables head;
    private final HeadCodeLayout codes;

    private Head(HeadTables head, LayerCodeLayout layer, int kvHead) {
      this.head = head;
      this.codes = layer.heads().get(kvHead);
    }

    /** Returns how much an error of each key channel counts. */
    public float[] keyWeights() {
      return head.keyWeights();
    }

    /** Returns the transform from values to components. // (components, channels) */
    public float[] valueTo() {
      return head.valueTo();
    }

    /** Returns the transform back. // (channels, components) */
    public float[] valueFrom() {
      return head.valueFrom();
    }

    /** Returns the units of the mean errors of components. */
    public float[] meanUnits() {
      return head.meanUnits();
    }

    /** Returns the predictions of keys, or of values. */
    public NibbleRows base(boolean ofKeys) {
      return head.base(side(ofKeys));
    }

    /** Returns the widths and steps of codes in a tier. */
    public RowCodeLayout codes(boolean ofKeys, int tier) {
      return codes.of(side(ofKeys), SaliencyTier.of(tier));
    }

    private static KvSide side(boolean ofKeys) {
      return ofKeys ? KvSide.KEYS : KvSide.VALUES;
    }
  }
}
