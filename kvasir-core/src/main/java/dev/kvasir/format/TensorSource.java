package dev.kvasir.format;

import dev.kvasir.error.InvalidInputException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Optional;
import java.util.SortedMap;

/** An open model file, or a set of files, with tensors by name. */
public interface TensorSource extends AutoCloseable {
  /** Returns the file or folder, for messages. */
  String name();

  Collection<Tensor> tensors();

  Optional<Tensor> find(String tensorName);

  /** Returns the bytes of tensors that are only read in pairs, by name. */
  default SortedMap<String, MemorySegment> pairedBytes() {
    return Collections.emptySortedMap();
  }

  /**
   * Returns a tensor of this name and shape.
   *
   * @throws InvalidInputException if it is missing or has another shape
   */
  default Tensor require(String tensorName, long... shape) {
    Tensor tensor =
        find(tensorName)
            .orElseThrow(
                () ->
                    new InvalidInputException(
                        "%s: tensor '%s' is missing; a tensor of shape %s was expected"
                            .formatted(name(), tensorName, Tensor.text(shape))));
    if (!Arrays.equals(tensor.shape(), shape)) {
      throw new InvalidInputException(
          "%s: tensor '%s' has shape %s; expected %s"
              .formatted(name(), tensorName, tensor.shapeText(), Tensor.text(shape)));
    }
    return tensor;
  }

  /** Keeps the process alive when the bytes of the file cannot be read any more. */
  default void protect() {}

  /**
   * Returns whether all bytes that were read since {@link #protect} were those of the file; false
   * after it was truncated or its disk failed.
   */
  default boolean isIntact() {
    return true;
  }

  /** Unmaps the file; its tensors are invalid afterwards. */
  @Override
  void close();
}
