package dev.kvasir.bench;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.ModelTables;
import dev.kvasir.codec.commvq.CommvqShape;
import dev.kvasir.codec.commvq.ModelCodebooks;
import dev.kvasir.codec.commvq.ValueCoding;
import dev.kvasir.codec.mead.MeadParameters;
import dev.kvasir.cuda.formats.DeviceCacheConfig;
import dev.kvasir.cuda.formats.PageFormat;
import dev.kvasir.cuda.formats.commvq.CommvqCodebooks;
import dev.kvasir.cuda.formats.commvq.CommvqFormat;
import dev.kvasir.cuda.formats.mead.MeadFormat;
import dev.kvasir.cuda.formats.mead.MeadModel;
import dev.kvasir.cuda.formats.patternkv.PatternkvFormat;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.Rotation;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.model.Rope;
import dev.kvasir.model.RopeLayout;
import dev.kvasir.profile.Profile;
import java.util.Optional;

/** Adds random codebooks, or RoPE, to cache configurations that need them. */
final class GpuModelParts {
  private static final double ROPE_BASE = 500_000;

  /** The default beam of one bit. */
  private static final int BEAM = 4;

  private GpuModelParts() {}

  /**
   * Adds what one layer needs.
   *
   * @param valueHeads KV heads whose values share codes; 0 for the default
   */
  static DeviceCacheConfig with(DeviceCacheConfig cacheConfig, GpuShape shape, int valueHeads) {
    float[] frequencies = new float[shape.heads().headDim() / 2];
    for (int pair = 0; pair < frequencies.length; pair++) {
      frequencies[pair] = (float) Math.pow(ROPE_BASE, -(double) pair / frequencies.length);
    }
    Rotation rotation = new Rope(RopeLayout.INTERLEAVED, frequencies);
    return with(cacheConfig, shape.heads(), valueHeads, 1, rotation, shape.tokens());
  }

  /** Adds what all layers of a model need. */
  static DeviceCacheConfig with(DeviceCacheConfig cacheConfig, ModelConfig config, int valueHeads) {
    return with(
        cacheConfig,
        config.attentionShape(),
        valueHeads,
        config.layers(),
        config.rotation(),
        config.contextLength());
  }

  private static DeviceCacheConfig with(
      DeviceCacheConfig cacheConfig,
      AttentionShape heads,
      int valueHeads,
      int layers,
      Rotation rotation,
      int positions) {
    return switch (cacheConfig.format()) {
      case CommvqFormat commvq -> {
        CommvqCodebooks model =
            new CommvqCodebooks(
                codebooks(commvq, heads, valueHeads, layers, rotation),
                cacheConfig.sinks(),
                positions,
                BEAM);
        yield with(
            cacheConfig, new CommvqFormat(commvq.bits(), commvq.values(), commvq.scoring(), model));
      }
      case MeadFormat mead ->
          with(
              cacheConfig,
              mead.withModel(
                  new MeadModel(
                      parameters(mead, heads, layers, rotation),
                      rotation,
                      cacheConfig.sinks(),
                      positions)));
      case PatternkvFormat patternkv ->
          with(cacheConfig, patternkv.withRotation(rotation, cacheConfig.sinks(), positions));
      default -> cacheConfig;
    };
  }

  private static ModelCodebooks codebooks(
      CommvqFormat commvq, AttentionShape heads, int valueHeads, int layers, Rotation rotation) {
    if (commvq.values() != ValueCoding.STAGES) {
      throw new InvalidInputException(
          "--kv has '%s', whose networks cannot be random; expected values=stages"
              .formatted(commvq));
    }
    return RandomCodebookProfile.model(
        heads, sharing(heads, valueHeads), layers, commvq.bits(), rotation);
  }

  /** Returns random tables of a mean, without those of the first layer. */
  private static MeadParameters parameters(
      MeadFormat mead, AttentionShape heads, int layers, Rotation rotation) {
    CacheShape shape = new CacheShape(layers, heads.kvHeads(), heads.headDim());
    CacheContext context =
        CacheContext.unknown()
            .withRotation(Optional.of(rotation))
            .withTables(Optional.of(new ModelTables()))
            .withProfile(Optional.of(RandomMeadTables.addMeanTo(Profile.empty("random"), shape)));
    return CacheSpec.parse(mead.text())
        .config()
        .cacheConfig(shape, context)
        .codec()
        .flatMap(MeadParameters::of)
        .orElseThrow();
  }

  private static DeviceCacheConfig with(DeviceCacheConfig cacheConfig, PageFormat format) {
    return new DeviceCacheConfig(
        format, cacheConfig.group(), cacheConfig.window(), cacheConfig.sinks());
  }

  private static int sharing(AttentionShape heads, int valueHeads) {
    if (valueHeads == 0) {
      return CommvqShape.defaultValueHeads(heads.kvHeads(), heads.headDim());
    }
    if (valueHeads < 0 || heads.kvHeads() % valueHeads != 0) {
      throw new InvalidInputException(
          "--value-heads is %d; expected a divisor of %d KV heads"
              .formatted(valueHeads, heads.kvHeads()));
    }
    return valueHeads;
  }
}
