package dev.kvasir.codec.vqllm;

/**
 * Codebooks of a layer.
 *
 * @param fingerprint by which stored pages are told
 */
public record LayerBooks(ResidualBooks keys, ResidualBooks values, int fingerprint) {
  public LayerBooks(ResidualBooks keys, ResidualBooks values) {
    this(keys, values, 31 * keys.fingerprint() + values.fingerprint());
  }
}
