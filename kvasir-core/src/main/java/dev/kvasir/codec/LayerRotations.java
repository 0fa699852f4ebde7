package dev.kvasir.codec;

import dev.kvasir.kernel.Rotation;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * The rotary embedding that each layer applies to keys.
 *
 * @param rotations by layer of the cache; a single one is that of all layers
 */
public record LayerRotations(List<Rotation> rotations) {
  public LayerRotations {
    rotations = List.copyOf(rotations);
    boolean areAlike = rotations.stream().distinct().count() == 1;
    rotations = areAlike ? List.of(rotations.getFirst()) : rotations;
  }

  /** Returns the same rotation in all layers. */
  public static LayerRotations ofAll(Rotation rotation) {
    return new LayerRotations(List.of(rotation));
  }

  public Rotation of(int layer) {
    return rotations.size() == 1 ? rotations.getFirst() : rotations.get(layer);
  }

  /** Returns the rotation of all layers; empty if layers differ. */
  public Optional<Rotation> shared() {
    return rotations.size() == 1 ? Optional.of(rotations.getFirst()) : Optional.empty();
  }

  /** Returns those of some layers, in their order. */
  public LayerRotations ofLayers(int... layers) {
    return new LayerRotations(Arrays.stream(layers).mapToObj(this::of).toList());
  }
}
