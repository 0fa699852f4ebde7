package dev.kvasir.methods.vqllm;

/**
 * Codebooks of a layer.
 *
 * @param fingerprint identifies the codebooks in serialized pages
 */
public record LayerResidualCodebooks(
    ResidualCodebooks keys, ResidualCodebooks values, int fingerprint) {
  public LayerResidualCodebooks(ResidualCodebooks keys, ResidualCodebooks values) {
    this(keys, values, 31 * keys.fingerprint() + values.fingerprint());
  }
}
