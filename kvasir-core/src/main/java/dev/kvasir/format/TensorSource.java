package dev.kvasir.format;

import dev.kvasir.error.InvalidInputException;
import java.util.Arrays;
import java.util.Collection;
import java.util.Optional;

/** An open model file, or a set of them, that hands out tensors by name. */
public interface TensorSource extends AutoCloseable {
  /** The file or folder, as messages name it. */
  String name();

  Collection<Tensor> tensors();

  Optional<Tensor> find(String tensorName);

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
