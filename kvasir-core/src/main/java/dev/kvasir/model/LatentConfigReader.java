package dev.kvasir.model;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.GgufMetadata;
import dev.kvasir.format.JsonFile;
import dev.kvasir.model.ModelConfig.RopeSettings;
import dev.kvasir.model.RopeFrequencies.Yarn;

/** Reads the configuration of latent attention from model files, in addition to the decoder's. */
final class LatentConfigReader {
  /** Factor that conversion to GGUF applies to YaRN's log multiplier. */
  private static final double CONVERTED = 0.1;

  /** Epsilon of the norms of latents in transformers, whatever {@code rms_norm_eps} states. */
  private static final float FOLDER_NORM_EPSILON = 1e-6f;

  private LatentConfigReader() {}

  /**
   * Reads it from a GGUF file. Older files state keys and values of heads, as if each were cached.
   * Newer ones state the latent as the key and use other names for heads.
   *
   * @param plain configuration without latent attention
   */
  static ModelConfig of(String fileName, GgufMetadata metadata, ModelConfig plain) {
    String prefix = plain.architecture().identifier() + ".";
    int headDim = metadata.integer(prefix + "attention.key_length_mla").orElse(plain.keyDim());
    int rotary = plain.rope().dimensions();
    LatentConfig latent =
        new LatentConfig(
            metadata.requireInteger(prefix + "attention.kv_lora_rank"),
            rotary,
            headDim - rotary,
            metadata.integer(prefix + "attention.value_length_mla").orElse(plain.valueDim()),
            metadata.integer(prefix + "attention.q_lora_rank").orElse(0),
            plain.normEpsilon());
    // Multi-token prediction layers come last and are not run.
    int ahead = metadata.integer(prefix + "nextn_predict_layers").orElse(0);
    double multiplier =
        metadata.number(prefix + "rope.scaling.yarn_log_multiplier").orElse(0.0) / CONVERTED;
    RopeSettings rope = plain.rope();
    if (rope.frequencies() instanceof Yarn yarn && multiplier != 0) {
      // The multiplier scales all channels of a head, so rotary ones must not be scaled twice.
      rope = rope.withMagnitude(rope.magnitude() / Yarn.magnitude(yarn.factor()));
    }
    double longer = rope.magnitude() * magnitude(rope, multiplier);
    return with(fileName, plain, latent, plain.layers() - ahead, rope, longer);
  }

  /** Reads it from a Hugging Face folder. */
  static ModelConfig of(JsonFile json, ModelConfig plain) {
    int rotary = json.requireInteger("qk_rope_head_dim");
    LatentConfig latent =
        new LatentConfig(
            json.requireInteger("kv_lora_rank"),
            rotary,
            json.requireInteger("qk_nope_head_dim"),
            json.requireInteger("v_head_dim"),
            json.integer("q_lora_rank").orElse(0),
            FOLDER_NORM_EPSILON);
    RopeLayout layout =
        json.bool("rope_interleave").orElse(true) ? RopeLayout.INTERLEAVED : RopeLayout.HALVES;
    RopeSettings read = plain.rope();
    if (read.frequencies() instanceof RopeFrequencies.LongRope) {
      throw new InvalidInputException(
          "%s: rope scaling is 'longrope'; latent attention supports only yarn"
              .formatted(json.name()));
    }
    RopeSettings rope =
        new RopeSettings(layout, read.base(), rotary, read.frequencies(), read.magnitude());
    double multiplier =
        HuggingFaceRopes.stated(json)
            .flatMap(scaling -> scaling.number("mscale_all_dim"))
            .orElse(0.0);
    return with(json.name(), plain, latent, plain.layers(), rope, magnitude(rope, multiplier));
  }

  private static double magnitude(RopeSettings rope, double multiplier) {
    return rope.frequencies() instanceof Yarn yarn ? Yarn.magnitude(yarn.factor(), multiplier) : 1;
  }

  /**
   * @param longer factor by which queries and keys are scaled, in all channels
   */
  private static ModelConfig with(
      String fileName,
      ModelConfig plain,
      LatentConfig latent,
      int layers,
      RopeSettings rope,
      double longer) {
    latent.check(fileName);
    // Attention divides by the root of the key size; models train with the root of the head size.
    double root = Math.sqrt((double) latent.keyDim() / latent.headDim());
    float query = (float) (plain.scales().query() * root * longer * longer);
    return plain.withLatent(latent, layers, rope, plain.scales().withQuery(query));
  }
}
