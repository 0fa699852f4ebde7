package dev.kvasir.model;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.GgufMetadata;
import dev.kvasir.format.JsonFile;
import dev.kvasir.model.ModelConfig.RopeSettings;

/** Reads what files say of latent attention, beside what they say of any decoder. */
final class LatentConfigs {
  private LatentConfigs() {}

  /**
   * A GGUF file's. Older ones speak of keys and values of heads, as if each were stored; newer ones
   * speak of the latent as the key, and of heads under other names.
   *
   * @param plain what was read as for any decoder
   */
  static ModelConfig of(String fileName, GgufMetadata metadata, ModelConfig plain) {
    String prefix = plain.architecture().fileName() + ".";
    if (metadata.number(prefix + "attention.temperature_scale").orElse(0.0) != 0) {
      throw new InvalidInputException(
          "%s: scales its queries by their positions; that is not supported".formatted(fileName));
    }
    int headDim = metadata.integer(prefix + "attention.key_length_mla").orElse(plain.keyDim());
    int rotary = plain.rope().dimensions();
    LatentConfig latent =
        new LatentConfig(
            metadata.requireInteger(prefix + "attention.kv_lora_rank"),
            rotary,
            headDim - rotary,
            metadata.integer(prefix + "attention.value_length_mla").orElse(plain.valueDim()),
            metadata.integer(prefix + "attention.q_lora_rank").orElse(0));
    // Layers that guess at tokens further ahead come last, and are not run.
    int ahead = metadata.integer(prefix + "nextn_predict_layers").orElse(0);
    return with(fileName, plain.withLayers(plain.layers() - ahead), latent);
  }

  /** A Hugging Face folder's. */
  static ModelConfig of(JsonFile json, ModelConfig plain) {
    int rotary = json.requireInteger("qk_rope_head_dim");
    LatentConfig latent =
        new LatentConfig(
            json.requireInteger("kv_lora_rank"),
            rotary,
            json.requireInteger("qk_nope_head_dim"),
            json.requireInteger("v_head_dim"),
            json.integer("q_lora_rank").orElse(0));
    RopeLayout layout =
        json.bool("rope_interleave").orElse(true) ? RopeLayout.NEIGHBOURS : RopeLayout.HALVES;
    RopeSettings rope = plain.rope();
    RopeSettings turned = new RopeSettings(layout, rope.base(), rotary, rope.frequencies());
    return with(json.name(), plain.withRopes(RopePattern.all(turned)), latent);
  }

  private static ModelConfig with(String fileName, ModelConfig plain, LatentConfig latent) {
    latent.check(fileName);
    // Attention divides by the root of a key's channels; models train with that of a head's.
    double query = plain.scales().query() * Math.sqrt((double) latent.keyDim() / latent.headDim());
    return plain.withLatent(latent, plain.scales().withQuery((float) query));
  }
}
