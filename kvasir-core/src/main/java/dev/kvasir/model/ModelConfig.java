package dev.kvasir.model;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.LayerWindows;
import dev.kvasir.codec.ValueOrigin;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.GgufFile;
import dev.kvasir.kernel.Rotation;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The sizes of a decoder and the choices that its architecture makes.
 *
 * @param keyDim channels of a query or key head
 * @param valueDim channels of a value head, and of a head's output
 * @param experts where layers choose among them; {@code feedForward} is then that of others
 * @param latent sizes of latent attention, where that is how layers attend: {@code keyDim} is then
 *     that of its keys, and {@code valueDim} its rank
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
    OutputWeights output) {

  /** A decoder whose layers all turn alike and which scales nothing. */
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
      RopeSettings rope,
      WindowPattern windows,
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
        RopePattern.uniform(rope),
        windows,
        Scales.NONE,
        Optional.empty(),
        Optional.empty(),
        output);
  }

  /**
   * The same decoder, whose layers attend to latents.
   *
   * @param count layers
   * @param rope of the channels that lie behind a latent
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
        output);
  }

  /** The same decoder, whose layers choose among experts. */
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
        output);
  }

  /** Where the weights of the output layer come from. */
  public enum OutputWeights {
    /** A tensor of their own. */
    OWN,
    /** The embedding, whatever else the file holds. */
    EMBEDDING,
    /** A tensor of their own where there is one, else the embedding: GGUF files do not say. */
    OWN_OR_EMBEDDING
  }

  /**
   * @param dimensions channels of a head that turn
   * @param magnitude by which the definition lengthens the turned channels of queries and of keys.
   *     Keys stay as they are here, so that they can be turned back, and queries are lengthened by
   *     its square.
   */
  public record RopeSettings(
      RopeLayout layout,
      double base,
      int dimensions,
      RopeFrequencies frequencies,
      double magnitude) {
    public RopeSettings(
        RopeLayout layout, double base, int dimensions, RopeFrequencies frequencies) {
      this(layout, base, dimensions, frequencies, 1);
    }

    Rope rope() {
      return new Rope(layout, frequencies.of(base, dimensions));
    }

    /** The same from another base, and perhaps without what stretches it. */
    RopeSettings withBase(double value, boolean stretched) {
      return stretched
          ? new RopeSettings(layout, value, dimensions, frequencies, magnitude)
          : new RopeSettings(layout, value, dimensions, new RopeFrequencies.Unscaled());
    }

    /** The same with turned channels of another length. */
    RopeSettings withMagnitude(double value) {
      return new RopeSettings(layout, base, dimensions, frequencies, value);
    }

    private RopeSettings withContextLength(int tokens) {
      return frequencies instanceof RopeFrequencies.LongRope rule
          ? new RopeSettings(layout, base, dimensions, rule.withContextLength(tokens), magnitude)
          : this;
    }
  }

  /** Reads it from a GGUF file; no weights are touched. */
  public static ModelConfig of(GgufFile file) {
    return GgufConfig.read(file);
  }

  /** Reads it from a folder as Hugging Face lays it out; no weights are touched. */
  public static ModelConfig of(Path folder) {
    return HuggingFaceConfig.read(folder);
  }

  /**
   * The same for texts of fewer tokens, which some models turn otherwise.
   *
   * @throws InvalidInputException where the model has fewer
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
        output);
  }

  /** Refuses sizes that no decoder can have, naming the file they came from. */
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
    if (queryHeads % kvHeads != 0) {
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
    int turned = rope.dimensions();
    if (turned < 2 || turned > keyDim || turned % 2 != 0) {
      throw new InvalidInputException(
          "%s: rotates %d channels of a head; expected an even number up to %d"
              .formatted(fileName, turned, keyDim));
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
    for (float frequency : rope.frequencies().of(rope.base(), turned)) {
      if (!Float.isFinite(frequency)) {
        throw new InvalidInputException(
            "%s: a rope base of %s with this scaling turns by %s; expected a finite angle"
                .formatted(fileName, rope.base(), frequency));
      }
    }
    if (!(rope.magnitude() > 0) || !Double.isFinite(rope.magnitude() * rope.magnitude())) {
      throw new InvalidInputException(
          "%s: the rope lengthens vectors by %s; expected a finite number above 0"
              .formatted(fileName, rope.magnitude()));
    }
  }

  private static void atLeastOne(String fileName, String what, int value) {
    if (value < 1) {
      throw new InvalidInputException(
          "%s: %s is %d; expected at least 1".formatted(fileName, what, value));
    }
  }

  /** Channels of a key as of a value, for what is made for heads of one width. */
  public int headDim() {
    return CacheShape.requireEqualDims(keyDim, valueDim);
  }

  public CacheShape cacheShape() {
    ValueOrigin values = latent.isPresent() ? ValueOrigin.IN_KEYS : ValueOrigin.STORED;
    return new CacheShape(layers, kvHeads, keyDim, valueDim, values)
        .withWindows(LayerWindows.of(layers, windows::of, contextLength));
  }

  /**
   * How far layers turn, for what is made for layers that all turn alike; else of the first kind.
   */
  public RopeSettings rope() {
    return ropes.kinds().getFirst();
  }

  /**
   * How all layers turn keys and queries to their positions, from their first channels on; none
   * where they differ in it, or where latents come first, which do not turn.
   */
  public Optional<Rotation> sharedRotation() {
    return ropes.isUniform(layers) && latent.isEmpty()
        ? Optional.of(rope().rope())
        : Optional.empty();
  }

  /** The same for what cannot do without; refuses a model whose layers differ. */
  public Rotation rotation() {
    return sharedRotation()
        .orElseThrow(
            () ->
                new InvalidInputException(
                    "%s: %s; this is made for one rotation of all"
                        .formatted(name, whyNoRotation())));
  }

  private String whyNoRotation() {
    return latent.isPresent() ? "latent vectors do not turn" : "layers turn their keys differently";
  }

  /**
   * Refuses a decoder of any but the plain kind, by what it is, for what computes layers in its own
   * way.
   *
   * @param who computes them
   */
  public void requirePlain(String who) {
    if (experts.isPresent()) {
      throw new InvalidInputException(
          "%s: %s knows decoders with one feed-forward part a layer; this is a mixture of %d experts"
              .formatted(name, who, experts.get().count()));
    }
    if (latent.isPresent()) {
      throw new InvalidInputException(
          "%s: %s knows keys and values of heads; this is a %s model, which attends to latent vectors"
              .formatted(name, who, architecture.identifier()));
    }
    if (!scales.equals(Scales.NONE)
        || !ropes.isUniform(layers)
        || rope().magnitude() != 1
        || architecture.norms() != NormPlacement.PRE
        || architecture.activation() != Activation.SILU) {
      throw new InvalidInputException(
          "%s: %s knows decoders without scales, bounds, norms behind parts and several rotations;"
                  .formatted(name, who)
              + " this is a %s model".formatted(architecture.identifier()));
    }
  }

  public AttentionShape attentionShape() {
    return new AttentionShape(queryHeads, kvHeads, keyDim, valueDim, scales.scoreCap());
  }
}
