package dev.kvasir.codec.vqllm;

/**
 * Codebooks of a layer.
 *
 * @param fingerprint by which stored pages are told
 */
public record LayerResidualCodebooks(
    ResidualCodebooks keys, ResidualCodebooks values, int fingerprint) {
  public LayerResidualCodebooks(ResidualCodebooks keys, ResidualCodebooks values) {
    this(keys, values, 31 * keys.fingerprint() + values.fingerprint());
  }
}
