package dev.kvasir.cache;

import dev.kvasir.codec.kivi.KiviCodec;

/** Uniform codes, keys by channel and values by token. */
record KiviMethod(UniformKeys keys) implements CacheMethod {
  static KiviMethod of(SpecText spec) {
    return new KiviMethod(UniformKeys.of(spec));
  }

  @Override
  public CacheSettings settings(CacheShape shape) {
    return keys.settings(new KiviCodec(shape.kvHeads(), keys.head(shape)));
  }
}
