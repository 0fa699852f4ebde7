package dev.kvasir.lab.gradient;

import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.Matrix;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.model.DenseAndExpertWeights;
import dev.kvasir.model.ExpertWeights;
import dev.kvasir.model.GatedWeights;
import dev.kvasir.model.NoFeedForward;
import dev.kvasir.model.UngatedWeights;
import dev.kvasir.runtime.LoadedModel;

/** A piece of the backward pass whose time can be measured: one feed-forward matrix. */
public final class BackwardProbe {
  private final WeightProducts products;
  private final Matrix matrix;

  private BackwardProbe(WeightProducts products, Matrix matrix) {
    this.products = products;
    this.matrix = matrix;
  }

  /** Returns a probe of a model, which must stay open. */
  public static BackwardProbe of(LoadedModel model, WorkerPool workers) {
    Matrix matrix =
        switch (model.weights().layers().getLast().feedForward()) {
          case GatedWeights gated -> gated.up().matrix();
          case ExpertWeights mixture -> mixture.gated(0).up().matrix();
          case DenseAndExpertWeights both -> both.dense().up().matrix();
          case UngatedWeights ungated -> ungated.up().matrix();
          case NoFeedForward _ -> throw new IllegalStateException("only hybrids have such layers");
        };
    WeightProducts products =
        new WeightProducts(
            KernelChoice.ofThisProcess().kernels(),
            workers,
            matrix.columns(),
            ActivationPrecision.FLOATS);
    return new BackwardProbe(products, matrix);
  }

  /** Returns the floating-point operations of a run. */
  public double operations(int tokens) {
    return 2.0 * tokens * matrix.rows() * matrix.columns();
  }

  public void run(int tokens) {
    float[] dy = new float[tokens * matrix.rows()];
    products.addBackward(dy, tokens, matrix, new float[tokens * matrix.columns()]);
  }
}
