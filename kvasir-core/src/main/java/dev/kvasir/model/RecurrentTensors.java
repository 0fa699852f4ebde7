package dev.kvasir.model;

import dev.kvasir.format.Tensor;
import dev.kvasir.model.TensorNames.MambaVector;
import dev.kvasir.model.TensorNames.Part;
import java.util.Optional;

/** The tensors of recurrent layers: their shapes in a file, and their weights. */
final class RecurrentTensors {
  /** Loads a matrix with its bias. */
  @FunctionalInterface
  interface ProjectionLoader {
    Projection load(int layer, Part part);
  }

  private final ModelConfig config;
  private final TensorNames names;

  RecurrentTensors(ModelConfig config, TensorNames names) {
    this.config = config;
    this.names = names;
  }

  /** Adds the tensors of a layer to a plan. */
  void plan(TensorPlan plan, int layer) {
    switch (config.recurrent().orElseThrow().sizes()) {
      case ShortConvConfig sizes -> {
        int hidden = config.hidden();
        plan.projection(layer, Part.CONVOLUTION_IN, 3L * hidden, hidden, false);
        planKernel(plan, layer, Part.CONVOLUTION, hidden, sizes.taps());
        plan.projection(layer, Part.CONVOLUTION_OUT, hidden, hidden, false);
      }
      case DeltaNetConfig sizes -> planDeltaNet(plan, layer, sizes);
      case Mamba2Config sizes -> planMamba(plan, layer, sizes);
    }
  }

  private void planDeltaNet(TensorPlan plan, int layer, DeltaNetConfig sizes) {
    int hidden = config.hidden();
    int values = sizes.valueChannels();
    if (isFused(plan, layer)) {
      matrix(plan, layer, Part.DELTA_FUSED, sizes.widest(), hidden);
    } else {
      matrix(plan, layer, Part.DELTA_MIXED, sizes.convolved(), hidden);
      matrix(plan, layer, Part.DELTA_GATE, values, hidden);
    }
    if (hasRatesWithDecays(plan, layer)) {
      matrix(plan, layer, Part.DELTA_RATES_AND_DECAYS, 2L * sizes.valueHeads(), hidden);
    } else {
      matrix(plan, layer, Part.DELTA_RATES, sizes.valueHeads(), hidden);
      matrix(plan, layer, Part.DELTA_DECAYS, sizes.valueHeads(), hidden);
    }
    planKernel(plan, layer, Part.DELTA_CONVOLUTION, sizes.convolved(), sizes.taps());
    plan.addRequired(names.decayBias(layer), sizes.valueHeads());
    plan.addRequired(names.decayFactors(layer), sizes.valueHeads());
    plan.addRequired(names.weight(layer, Part.DELTA_NORM), sizes.valueDim());
    matrix(plan, layer, Part.DELTA_OUT, hidden, values);
  }

  private void planMamba(TensorPlan plan, int layer, Mamba2Config sizes) {
    plan.projection(layer, Part.MAMBA_IN, sizes.projected(), config.hidden(), false);
    planKernel(plan, layer, Part.MAMBA_CONVOLUTION, sizes.convolved(), sizes.taps());
    plan.addOptional(names.bias(layer, Part.MAMBA_CONVOLUTION), sizes.convolved());
    plan.addRequired(names.mamba(layer, MambaVector.STEP_BIAS), sizes.heads());
    if (names == TensorNames.GGUF) {
      plan.addRequiredFloats(names.mamba(layer, MambaVector.DECAY), sizes.heads(), 1);
      plan.addRequiredFloats(names.mamba(layer, MambaVector.SKIP), sizes.heads(), 1);
      plan.addRequiredFloats(
          names.weight(layer, Part.MAMBA_NORM), sizes.groups(), sizes.inner() / sizes.groups());
    } else {
      plan.addRequired(names.mamba(layer, MambaVector.DECAY), sizes.heads());
      plan.addRequired(names.mamba(layer, MambaVector.SKIP), sizes.heads());
      plan.addRequired(names.weight(layer, Part.MAMBA_NORM), sizes.inner());
    }
    plan.projection(layer, Part.MAMBA_OUT, config.hidden(), sizes.inner(), false);
  }

  private Mamba2Weights mamba(
      TensorPlan plan, int layer, Mamba2Config sizes, ProjectionLoader projections) {
    return new Mamba2Weights(
        projections.load(layer, Part.MAMBA_IN),
        kernel(plan, layer, Part.MAMBA_CONVOLUTION, sizes.convolved(), sizes.taps()),
        plan.find(names.bias(layer, Part.MAMBA_CONVOLUTION))
            .map(Tensor::toFloats)
            .orElse(Projection.NO_BIAS),
        plan.require(names.mamba(layer, MambaVector.STEP_BIAS)).toFloats(),
        factors(plan.require(names.mamba(layer, MambaVector.DECAY))),
        plan.require(names.mamba(layer, MambaVector.SKIP)).toFloats(),
        plan.require(names.weight(layer, Part.MAMBA_NORM)).toFloats(),
        projections.load(layer, Part.MAMBA_OUT));
  }

  private boolean isFused(TensorPlan plan, int layer) {
    return plan.hasTensor(names.weight(layer, Part.DELTA_FUSED));
  }

  private boolean hasRatesWithDecays(TensorPlan plan, int layer) {
    return plan.hasTensor(names.weight(layer, Part.DELTA_RATES_AND_DECAYS));
  }

  /** Adds a matrix without a bias. */
  private void matrix(TensorPlan plan, int layer, Part part, long rows, long columns) {
    plan.addRequired(names.weight(layer, part), rows, columns);
  }

  /** Adds the kernel of a convolution; folders have a dimension more, of one group per channel. */
  private void planKernel(TensorPlan plan, int layer, Part part, long channels, long taps) {
    String name = names.weight(layer, part);
    if (names == TensorNames.GGUF) {
      plan.addRequiredFloats(name, channels, taps);
    } else {
      plan.addRequiredFloats(name, channels, 1, taps);
    }
  }

  /** Loads the weights of a layer. */
  AttentionWeights load(TensorPlan plan, int layer, ProjectionLoader projections) {
    return switch (config.recurrent().orElseThrow().sizes()) {
      case ShortConvConfig sizes ->
          new ShortConvWeights(
              projections.load(layer, Part.CONVOLUTION_IN),
              kernel(plan, layer, Part.CONVOLUTION, sizes.channels(), sizes.taps()),
              projections.load(layer, Part.CONVOLUTION_OUT));
      case DeltaNetConfig sizes -> deltaNet(plan, layer, sizes, projections);
      case Mamba2Config sizes -> mamba(plan, layer, sizes, projections);
    };
  }

  private DeltaNetWeights deltaNet(
      TensorPlan plan, int layer, DeltaNetConfig sizes, ProjectionLoader projections) {
    boolean fused = isFused(plan, layer);
    boolean together = hasRatesWithDecays(plan, layer);
    return new DeltaNetWeights(
        projections.load(layer, fused ? Part.DELTA_FUSED : Part.DELTA_MIXED),
        fused ? Optional.empty() : Optional.of(projections.load(layer, Part.DELTA_GATE)),
        projections.load(layer, together ? Part.DELTA_RATES_AND_DECAYS : Part.DELTA_RATES),
        together ? Optional.empty() : Optional.of(projections.load(layer, Part.DELTA_DECAYS)),
        kernel(plan, layer, Part.DELTA_CONVOLUTION, sizes.convolved(), sizes.taps()),
        plan.require(names.decayBias(layer)).toFloats(),
        factors(plan.require(names.decayFactors(layer))),
        plan.require(names.weight(layer, Part.DELTA_NORM)).toFloats(),
        projections.load(layer, Part.DELTA_OUT));
  }

  /** Returns negative factors; conversion to GGUF computes them from their logarithms. */
  private float[] factors(Tensor tensor) {
    float[] factors = tensor.toFloats();
    for (int i = 0; names != TensorNames.GGUF && i < factors.length; i++) {
      factors[i] = (float) -Math.exp(factors[i]);
    }
    return factors;
  }

  /** Returns a kernel with the channels of a tap next to each other. */
  private float[] kernel(TensorPlan plan, int layer, Part part, int channels, int taps) {
    Tensor tensor = plan.require(names.weight(layer, part));
    float[] byChannel = tensor.toFloats();
    float[] byTap = new float[byChannel.length];
    for (int channel = 0; channel < channels; channel++) {
      for (int tap = 0; tap < taps; tap++) {
        byTap[tap * channels + channel] = byChannel[channel * taps + tap];
      }
    }
    return byTap;
  }
}
