package dev.kvasir.lab.pytorch;

import java.util.Arrays;
import java.util.List;

/**
 * A tensor that has not been read yet.
 *
 * @param offset index of its first number in the storage
 * @param shape outermost dimension first
 * @param strides numbers from one index of a dimension to the next
 */
public record TorchTensor(TorchStorage storage, long offset, List<Long> shape, List<Long> strides) {
  public TorchTensor {
    shape = List.copyOf(shape);
    strides = List.copyOf(strides);
    if (shape.size() != strides.size()
        || shape.stream().anyMatch(size -> size < 0)
        || strides.stream().anyMatch(stride -> stride < 0)
        || offset < 0) {
      throw new IllegalArgumentException("%s with strides %s".formatted(shape, strides));
    }
  }

  /** Returns whether the tensor has this shape. */
  public boolean hasShape(long... expected) {
    return shape.equals(Arrays.stream(expected).boxed().toList());
  }
}
