package dev.kvasir.format;

import dev.kvasir.error.InvalidInputException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Optional;
import java.util.SortedMap;

/** An open model file, or a set of them, that hands out tensors by name. */
public interface TensorSource extends AutoCloseable {
  /** The file or folder, as messages name it. */
  String name();

  Collection<Tensor> tensors();

  Optional<Tensor> find(String tensorName);

  /** Bytes of tensors that are read in pairs and are no tensors of their own, by name. */
  default SortedMap<String, MemorySegment> pairedBytes() {
    return Collections.emptySortedMap();
  }

  /** The tensor of that name, refused unless it has that shape. */
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

  /** Unmaps the file; tensors handed out before are dead after this. */
  @Override
  void close();
}
