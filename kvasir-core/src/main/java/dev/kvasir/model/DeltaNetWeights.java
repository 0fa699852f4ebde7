package dev.kvasir.model;

import java.util.Optional;

/**
 * Weights of a gated delta net.
 *
 * @param mixed queries, keys and values; without a separate {@code gate}, for each key head its
 *     query, key, values and gates
 * @param rates learning rates; without separate {@code decays}, for each key head the rates and
 *     then the decays of its value heads
 * @param decay factor of the decay in each value head, below 0
 */
public record DeltaNetWeights(
    Projection mixed, // (convolved or with gates, hidden)
    Optional<Projection> gate, // (valueHeads * valueDim, hidden)
    Projection rates, // (valueHeads or twice as many, hidden)
    Optional<Projection> decays, // (valueHeads, hidden)
    float[] kernel, // (taps, convolved), the tap of the token itself last
    float[] decayBias, // (valueHeads)
    float[] decay, // (valueHeads)
    float[] norm, // (valueDim)
    Projection output) // (hidden, valueHeads * valueDim)
    implements AttentionWeights {
  @Override
  public long bytes() {
    long floats = (long) kernel.length + decayBias.length + decay.length + norm.length;
    return mixed.bytes()
        + gate.map(Projection::bytes).orElse(0L)
        + rates.bytes()
        + decays.map(Projection::bytes).orElse(0L)
        + floats * Float.BYTES
        + output.bytes();
  }
}
