package dev.kvasir.model;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.HeadShape;
import dev.kvasir.codec.LayerRotations;
import dev.kvasir.codec.LayerWindows;
import dev.kvasir.codec.StateShape;
import dev.kvasir.codec.ValueOrigin;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.GgufFile;
import dev.kvasir.kernel.Rotation;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Sizes and architecture of a decoder.
 *
 * @param keyDim channels of a query or key head
 * @param valueDim channels of a value head, and of a head's output
 * @param experts sizes of expert layers, if any; {@code feedForward} is the width of the others
 * @param latent sizes of latent attention, if layers use it; {@code keyDim} is then that of its
 *     keys, and {@code valueDim} its rank
 * @param recurrent layers with a recurrent state instead of attention, if any
 * @param perLayer sizes that differ by layer, if any; the common ones are then the largest, and
 *     those of heads cannot be asked for
 */
public record ModelConfig(
    String name,
    Architecture architecture,
    int layers,
    int hidden,
    int feedForward,
    int queryHeads,
    int kvHeads,
    int keyDim,
    int valueDim,
    int vocabulary,
    int contextLength,
    float normEpsilon,
    RopePattern ropes,
    WindowPattern windows,
    Scales scales,
    Optional<ExpertConfig> experts,
    Optional<LatentConfig> latent,
    Optional<RecurrentConfig> recurrent,
    Optional<LayerSizes> perLayer,
    OutputWeights output) {

  /** A configuration without recurrent layers. */
  public ModelConfig(
      String name,
      Architecture architecture,
      int layers,
      int hidden,
      int feedForward,
      int queryHeads,
      int kvHeads,
      int keyDim,
      int valueDim,
      int vocabulary,
      int contextLength,
      float normEpsilon,
      RopePattern ropes,
      WindowPattern windows,
      Scales scales,
      Optional<ExpertConfig> experts,
      Optional<LatentConfig> latent,
      OutputWeights output) {
    this(
        name,
        architecture,
        layers,
        hidden,
        feedForward,
        queryHeads,
        kvHeads,
        keyDim,
        valueDim,
        vocabulary,
        contextLength,
        normEpsilon,
        ropes,
        windows,
        scales,
        experts,
        latent,
        Optional.empty(),
        Optional.empty(),
        output);
  }

  /**
   * Returns this configuration with latent attention.
   *
   * @param count number of layers
   * @param rope RoPE of the channels that follow a latent
   */
  ModelConfig withLatent(LatentConfig sizes, int count, RopeSettings rope, Scales factors) {
    return new ModelConfig(
        name,
        architecture,
        count,
        hidden,
        feedForward,
        queryHeads,
        1,
        sizes.keyDim(),
        sizes.rank(),
        vocabulary,
        contextLength,
        normEpsilon,
        RopePattern.uniform(rope),
        windows,
        factors,
        experts,
        Optional.of(sizes),
        recurrent,
        perLayer,
        output);
  }

  /** Returns this configuration with experts. */
  ModelConfig withExperts(ExpertConfig sizes) {
    return new ModelConfig(
        name,
        architecture,
        layers,
        hidden,
        feedForward,
        queryHeads,
        kvHeads,
        keyDim,
        valueDim,
        vocabulary,
        contextLength,
        normEpsilon,
        ropes,
        windows,
        scales,
        Optional.of(sizes),
        latent,
        recurrent,
        perLayer,
        output);
  }

  /** Returns this configuration with recurrent layers. */
  ModelConfig withRecurrent(RecurrentConfig states) {
    return new ModelConfig(
        name,
        architecture,
        layers,
        hidden,
        feedForward,
        queryHeads,
        kvHeads,
        keyDim,
        valueDim,
        vocabulary,
        contextLength,
        normEpsilon,
        ropes,
        windows,
        scales,
        experts,
        latent,
        Optional.of(states),
        perLayer,
        output);
  }

  /** Returns this configuration with sizes that differ by layer. */
  ModelConfig withPerLayer(LayerSizes sizes) {
    return new ModelConfig(
        name,
        architecture,
        layers,
        hidden,
        sizes.maxFeedForward(),
        queryHeads,
        sizes.max(HeadShape::kvHeads),
        sizes.max(HeadShape::keyDim),
        sizes.max(HeadShape::valueDim),
        vocabulary,
        contextLength,
        normEpsilon,
        ropes,
        windows,
        scales,
        experts,
        latent,
        recurrent,
        Optional.of(sizes),
        output);
  }

  /** Where the weights of the output layer come from. */
  public enum OutputWeights {
    /** A separate tensor. */
    OWN,
    /** The embedding, even if the file has a separate tensor. */
    EMBEDDING,
    /** A separate tensor if the file has one, else the embedding: GGUF files do not say. */
    OWN_OR_EMBEDDING
  }

  /**
   * RoPE settings of a layer.
   *
   * @param dimensions rotary channels of a head
   * @param magnitude factor for the rotary channels of both queries and keys. Keys are not scaled
   *     here, so that RoPE can be undone; queries are scaled by its square instead.
   * @param temperature factor of all channels of queries, by position
   */
  public record RopeSettings(
      RopeLayout layout,
      double base,
      int dimensions,
      RopeFrequencies frequencies,
      double magnitude,
      QueryTemperature temperature) {
    public RopeSettings(
        RopeLayout layout,
        double base,
        int dimensions,
        RopeFrequencies frequencies,
        double magnitude) {
      this(layout, base, dimensions, frequencies, magnitude, QueryTemperature.NONE);
    }

    public RopeSettings(
        RopeLayout layout, double base, int dimensions, RopeFrequencies frequencies) {
      this(layout, base, dimensions, frequencies, 1);
    }

    Rope rope() {
      return new Rope(layout, frequencies.of(base, dimensions));
    }

    /** Returns these settings with another base, and without scaling unless {@code scaled}. */
    RopeSettings withBase(double value, boolean scaled) {
      return scaled
          ? new RopeSettings(layout, value, dimensions, frequencies, magnitude, temperature)
          : new RopeSettings(layout, value, dimensions, new RopeFrequencies.Unscaled());
    }

    /** Returns these settings with another number of rotary channels. */
    RopeSettings withDimensions(int count) {
      return new RopeSettings(layout, base, count, frequencies, magnitude, temperature);
    }

    /** Returns these settings with another magnitude. */
    RopeSettings withMagnitude(double value) {
      return new RopeSettings(layout, base, dimensions, frequencies, value, temperature);
    }

    /** Returns these settings with another temperature. */
    RopeSettings withTemperature(QueryTemperature value) {
      return new RopeSettings(layout, base, dimensions, frequencies, magnitude, value);
    }

    private RopeSettings withContextLength(int tokens) {
      return frequencies instanceof RopeFrequencies.LongRope rule
          ? new RopeSettings(
              layout, base, dimensions, rule.withContextLength(tokens), magnitude, temperature)
          : this;
    }
  }

  /** Reads the configuration of a GGUF file; loads no weights. */
  public static ModelConfig of(GgufFile file) {
    return GgufConfig.read(file);
  }

  /** Reads the configuration of a Hugging Face folder; loads no weights. */
  public static ModelConfig of(Path folder) {
    return HuggingFaceConfig.read(folder);
  }

  /**
   * Returns this configuration for a shorter context, which changes RoPE in some models.
   *
   * @throws InvalidInputException if the model's context is shorter than that
   */
  public ModelConfig withContextLength(int tokens) {
    if (tokens < 1 || tokens > contextLength) {
      throw new InvalidInputException(
          "%s: is to be used for %d tokens; expected 1 to %d"
              .formatted(name, tokens, contextLength));
    }
    List<RopeSettings> kinds =
        ropes.kinds().stream().map(rope -> rope.withContextLength(tokens)).toList();
    return new ModelConfig(
        name,
        architecture,
        layers,
        hidden,
        feedForward,
        queryHeads,
        kvHeads,
        keyDim,
        valueDim,
        vocabulary,
        tokens,
        normEpsilon,
        new RopePattern(kinds, ropes.ofLayer()),
        windows,
        scales,
        experts,
        latent,
        recurrent,
        perLayer,
        output);
  }

  /**
   * Returns the configuration of some consecutive layers, for a device that has only these. The
   * decoder must be one of {@link StandardLayers}, whose layers have one size.
   */
  public ModelConfig withLayers(LayerRange range) {
    return new ModelConfig(
        name,
        architecture,
        range.count(),
        hidden,
        feedForward,
        queryHeads,
        kvHeads,
        keyDim,
        valueDim,
        vocabulary,
        contextLength,
        normEpsilon,
        ropes.from(range.first()),
        windows.from(range.first()),
        scales,
        experts.map(sizes -> sizes.withLayers(range)),
        latent,
        recurrent,
        perLayer,
        output);
  }

  /** Checks the sizes; errors name the file they came from. */
  ModelConfig checked(String fileName) {
    atLeastOne(fileName, "layers", layers);
    atLeastOne(fileName, "hidden size", hidden);
    atLeastOne(fileName, "feed-forward size", feedForward);
    atLeastOne(fileName, "query heads", queryHeads);
    atLeastOne(fileName, "KV heads", kvHeads);
    atLeastOne(fileName, "head size", keyDim);
    atLeastOne(fileName, "value head size", valueDim);
    atLeastOne(fileName, "vocabulary", vocabulary);
    atLeastOne(fileName, "context length", contextLength);
    if (perLayer.isPresent()) {
      perLayer.get().check(fileName, this);
    } else if (queryHeads % kvHeads != 0) {
      throw new InvalidInputException(
          "%s: has %d query heads; expected a multiple of its %d KV heads"
              .formatted(fileName, queryHeads, kvHeads));
    }
    int widest = Math.max(keyDim, valueDim);
    if ((long) queryHeads * widest > Integer.MAX_VALUE) {
      throw new InvalidInputException(
          "%s: has %d query heads of %d channels; expected at most %d in all"
              .formatted(fileName, queryHeads, widest, Integer.MAX_VALUE));
    }
    experts.ifPresent(sizes -> sizes.check(fileName, layers));
    latent.ifPresent(sizes -> sizes.check(fileName));
    recurrent.ifPresent(sizes -> sizes.check(fileName));
    if (architecture.traits().hasGatedQueries() && keyDim != valueDim) {
      throw new InvalidInputException(
          "%s: query heads have %d channels and value heads %d; gates require the same number"
              .formatted(fileName, keyDim, valueDim));
    }
    SizeLimits.check(fileName, this);
    ropes.kinds().forEach(rope -> check(fileName, rope));
    scales.check(fileName);
    if (!(normEpsilon > 0)) {
      throw new InvalidInputException(
          "%s: the norm's epsilon is %s; expected more than 0".formatted(fileName, normEpsilon));
    }
    return this;
  }

  private void check(String fileName, RopeSettings rope) {
    int rotary = rope.dimensions();
    if (rotary < 2 || rotary > keyDim || rotary % 2 != 0) {
      throw new InvalidInputException(
          "%s: rotates %d channels of a head; expected an even number up to %d"
              .formatted(fileName, rotary, keyDim));
    }
    if (!(rope.base() > 0) || Double.isInfinite(rope.base())) {
      throw new InvalidInputException(
          "%s: the rope base is %s; expected more than 0".formatted(fileName, rope.base()));
    }
    for (double number : rope.frequencies().positiveParameters()) {
      if (!(number > 0) || Double.isInfinite(number)) {
        throw new InvalidInputException(
            "%s: the rope scaling has a factor of %s; expected more than 0"
                .formatted(fileName, number));
      }
    }
    for (float frequency : rope.frequencies().of(rope.base(), rotary)) {
      if (!Float.isFinite(frequency)) {
        throw new InvalidInputException(
            "%s: a rope base of %s with this scaling rotates by %s; expected a finite angle"
                .formatted(fileName, rope.base(), frequency));
      }
    }
    QueryTemperature temperature = rope.temperature();
    if (!Double.isFinite(temperature.rate()) || temperature.length() < 1) {
      throw new InvalidInputException(
          "%s: scales its queries by %s every %d positions; expected a finite number and at least 1"
              .formatted(fileName, temperature.rate(), temperature.length()));
    }
    if (!(rope.magnitude() > 0) || !Double.isFinite(rope.magnitude() * rope.magnitude())) {
      throw new InvalidInputException(
          "%s: the rope scales vectors by %s; expected a finite number above 0"
              .formatted(fileName, rope.magnitude()));
    }
  }

  private static void atLeastOne(String fileName, String what, int value) {
    if (value < 1) {
      throw new InvalidInputException(
          "%s: %s is %d; expected at least 1".formatted(fileName, what, value));
    }
  }

  /** Returns the head size; fails if keys and values differ, or layers do. */
  public int headDim() {
    return CacheShape.requireEqualDims(keyDim(), valueDim());
  }

  /**
   * Returns the KV heads of every layer.
   *
   * @throws InvalidInputException if layers differ in their heads
   */
  @Override
  public int kvHeads() {
    requireAlikeHeads();
    return kvHeads;
  }

  /**
   * Returns the channels of a query or key head in every layer.
   *
   * @throws InvalidInputException if layers differ in their heads
   */
  @Override
  public int keyDim() {
    requireAlikeHeads();
    return keyDim;
  }

  /**
   * Returns the channels of a value head in every layer.
   *
   * @throws InvalidInputException if layers differ in their heads
   */
  @Override
  public int valueDim() {
    requireAlikeHeads();
    return valueDim;
  }

  private void requireAlikeHeads() {
    if (perLayer.isPresent() && perLayer.get().hasMixedHeads()) {
      throw new InvalidInputException(
          "%s: layers have heads of different sizes, which is not supported here".formatted(name));
    }
  }

  /** Returns the KV heads of a layer, or those of the layer whose keys and values it reads. */
  public HeadShape heads(int layer) {
    return perLayer.isPresent()
        ? perLayer.get().heads().get(layer)
        : new HeadShape(kvHeads, keyDim, valueDim);
  }

  /** Returns the width of the widest vector of query heads or their outputs. */
  long widestHeads() {
    return (long) queryHeads * Math.max(keyDim, valueDim);
  }

  /** Returns the width of the query heads of a token; the most if layers differ. */
  long widestQueries() {
    return (long) queryHeads * keyDim;
  }

  /** Returns the channels of the embedding that a token has in each layer; 0 for none. */
  int inputChannels() {
    return perLayer.map(LayerSizes::inputChannels).orElse(0);
  }

  /** Returns the width of a layer's feed-forward part. */
  int feedForward(int layer) {
    return perLayer.map(sizes -> sizes.feedForward().get(layer)).orElse(feedForward);
  }

  /** Returns whether a layer reads the keys and values of an earlier one. */
  public boolean sharesCache(int layer) {
    return perLayer.isPresent() && perLayer.get().sharesCache(layer);
  }

  public CacheShape cacheShape() {
    ValueOrigin values = latent.isPresent() ? ValueOrigin.IN_KEYS : ValueOrigin.STORED;
    int[] cached = cachedLayers();
    return new CacheShape(cached.length, kvHeads, keyDim, valueDim, values)
        .withWindows(
            LayerWindows.of(cached.length, index -> windows.of(cached[index]), contextLength))
        .withState(recurrent.map(RecurrentConfig::stateShape).orElse(StateShape.NONE))
        .withHeads(IntStream.of(cached).mapToObj(this::heads).toList());
  }

  /** Returns the layers with keys and values of their own. */
  private int[] cachedLayers() {
    return IntStream.range(0, layers)
        .filter(layer -> attends(layer) && !sharesCache(layer))
        .toArray();
  }

  /** Returns whether a layer has a recurrent state instead of keys and values. */
  public boolean isRecurrent(int layer) {
    return recurrent.isPresent() && recurrent.get().kind(layer).isRecurrent();
  }

  /** Returns whether a layer has attention, and thus keys and values. */
  public boolean attends(int layer) {
    return recurrent.isEmpty() || recurrent.get().kind(layer).attends();
  }

  /** Returns whether a layer has a feed-forward part. */
  public boolean hasFeedForward(int layer) {
    return recurrent.isEmpty() || recurrent.get().kind(layer).hasFeedForward();
  }

  /** Returns whether a layer has routed experts. */
  public boolean hasExperts(int layer) {
    return experts.isPresent() && experts.get().hasExperts(layer);
  }

  /** Returns the number of layers with a feed-forward part. */
  public int feedForwardLayers() {
    return (int) IntStream.range(0, layers).filter(this::hasFeedForward).count();
  }

  /** Returns the index in the cache of the keys and values that a layer with attention reads. */
  public int cacheLayer(int layer) {
    if (perLayer.isPresent()) {
      return perLayer.get().cacheLayers().get(layer);
    }
    return recurrent.isPresent() ? recurrent.get().attendingBefore(layer) : layer;
  }

  /** Returns the RoPE settings of all layers, or of the first kind if layers differ. */
  public RopeSettings rope() {
    return ropes.kinds().getFirst();
  }

  /**
   * Returns the RoPE that all layers apply from a head's first channel on. Empty if layers differ,
   * or if keys start with a latent, which has no RoPE.
   */
  public Optional<Rotation> sharedRotation() {
    return ropes.isUniform(layers) && latent.isEmpty()
        ? Optional.of(rope().rope())
        : Optional.empty();
  }

  /** Returns the RoPE of each layer of the cache; empty if keys start with a latent. */
  public Optional<LayerRotations> rotations() {
    return rotations(ropes.kinds().stream().map(RopeSettings::rope).toList());
  }

  /**
   * Returns the same.
   *
   * @param kinds one for each kind of the pattern
   */
  Optional<LayerRotations> rotations(List<Rope> kinds) {
    if (latent.isPresent()) {
      return Optional.empty();
    }
    Rope none = Rope.none();
    List<Rotation> found =
        IntStream.of(cachedLayers())
            .map(ropes::of)
            .<Rotation>mapToObj(kind -> kind == RopePattern.NONE ? none : kinds.get(kind))
            .toList();
    return Optional.of(new LayerRotations(found));
  }

  /**
   * Returns the RoPE of each layer of the cache.
   *
   * @param who the caller, for the error message
   * @throws InvalidInputException if keys start with a latent, which has no RoPE
   */
  public LayerRotations requireRotations(String who) {
    return rotations()
        .orElseThrow(
            () ->
                new InvalidInputException(
                    "%s: latent vectors have no RoPE, which %s requires".formatted(name, who)));
  }

  /** Returns the RoPE of all layers; fails if there is none. */
  public Rotation rotation() {
    return sharedRotation()
        .orElseThrow(
            () ->
                new InvalidInputException(
                    "%s: %s; one RoPE for all layers is required"
                        .formatted(name, whyNoRotation())));
  }

  private String whyNoRotation() {
    return latent.isPresent() ? "latent vectors have no RoPE" : "layers differ in their RoPE";
  }

  /**
   * Fails for a decoder that is not plain, for callers that compute layers on their own.
   *
   * @param who the caller, for the error message
   */
  public void requirePlain(String who) {
    if (experts.isPresent()) {
      throw new InvalidInputException(
          "%s: %s requires dense feed-forward layers; this is a mixture of %d experts"
              .formatted(name, who, experts.get().count()));
    }
    if (latent.isPresent()) {
      throw new InvalidInputException(
          "%s: %s requires multi-head attention; this is a %s model, which uses latent attention"
              .formatted(name, who, architecture.identifier()));
    }
    if (recurrent.isPresent()) {
      throw new InvalidInputException(
          "%s: %s requires attention in every layer; this is a %s model with %d recurrent layers"
              .formatted(name, who, architecture.identifier(), recurrent.get().count()));
    }
    if (perLayer.isPresent()) {
      throw new InvalidInputException(
          "%s: %s requires layers of one size; this is a %s model, whose layers differ"
              .formatted(name, who, architecture.identifier()));
    }
    if (!scales.equals(Scales.NONE)
        || !ropes.isUniform(layers)
        || rope().magnitude() != 1
        || rope().temperature().rate() != 0
        || architecture.norms() != NormPlacement.PRE
        || architecture.activation() != Activation.SILU) {
      throw new InvalidInputException(
          "%s: %s requires a decoder without scales, soft caps, post-norms and several RoPEs;"
                  .formatted(name, who)
              + " this is a %s model".formatted(architecture.identifier()));
    }
  }

  public AttentionShape attentionShape() {
    return new AttentionShape(queryHeads, kvHeads(), keyDim(), valueDim(), scales.scoreCap());
  }

  /** Returns the shape of attention in a layer. */
  AttentionShape attentionShape(int layer) {
    HeadShape each = heads(layer);
    return new AttentionShape(
        queryHeads, each.kvHeads(), each.keyDim(), each.valueDim(), scales.scoreCap());
  }
}
