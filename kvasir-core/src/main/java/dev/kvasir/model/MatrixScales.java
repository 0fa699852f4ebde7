package dev.kvasir.model;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.GgmlType;
import dev.kvasir.format.Tensor;
import dev.kvasir.format.TensorSource;
import java.util.Optional;

/**
 * The scales of whole matrices in GGUF files, which multiply the scales of their groups: {@code
 * NAME.scale} of {@code NAME.weight}, with one value, or with one for each expert.
 *
 * <pre>
 * weight = matrix scale * group scale * code
 * </pre>
 *
 * <p>Files have them for NVFP4, whose group scales have eight bits.
 */
record MatrixScales(TensorSource file, TensorPlan plan) {
  private static final String WEIGHT = ".weight";

  /** Returns the name of the scales of a weight tensor; empty if its name has none. */
  static Optional<String> nameFor(Tensor weights) {
    String name = weights.name();
    return name.endsWith(WEIGHT)
        ? Optional.of(name.substring(0, name.length() - WEIGHT.length()) + ".scale")
        : Optional.empty();
  }

  /**
   * Returns the scale of a matrix, which may be a part of a tensor.
   *
   * @throws InvalidInputException if the scales do not fit
   */
  float of(Tensor matrix) {
    return nameFor(matrix).flatMap(file::find).map(found -> of(matrix, found)).orElse(1f);
  }

  private float of(Tensor matrix, Tensor scales) {
    if (matrix.type() != GgmlType.NVFP4) {
      requireOtherPurpose(matrix, scales);
      return 1;
    }
    Tensor whole = file.find(matrix.name()).orElseThrow();
    long matrices = whole.shape().length == 3 ? whole.shape()[0] : 1;
    if (scales.values() != matrices) {
      throw new InvalidInputException(
          "%s: tensor '%s' has shape %s; expected one value for each of %d matrices"
              .formatted(file.name(), scales.name(), scales.shapeText(), matrices));
    }
    long bytes = whole.data().byteSize() / matrices;
    int index = (int) ((matrix.data().address() - whole.data().address()) / bytes);
    float scale = scales.toFloats()[index];
    if (!Float.isFinite(scale)) {
      throw new InvalidInputException(
          "%s: tensor '%s' has a scale of %s; expected a finite number"
              .formatted(file.name(), scales.name(), scale));
    }
    return scale;
  }

  /** Some families scale the outputs of experts, with weights of any type. */
  private void requireOtherPurpose(Tensor matrix, Tensor scales) {
    if (!plan.contains(scales.name())) {
      throw new InvalidInputException(
          "%s: tensor '%s' scales a matrix of type %s; expected NVFP4"
              .formatted(file.name(), scales.name(), matrix.type()));
    }
  }
}
