package dev.kvasir.cuda.formats;

import dev.kvasir.cuda.memory.PageTable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The layers of a model in groups whose pages always have equal widths. The layers of a group have
 * consecutive places in fp16 pages:
 *
 * <pre>
 * floors of layers   4 2 2 4
 * groups             0 1 1 0
 * places             0 2 3 1
 * </pre>
 */
public final class LayerGroups {
  private final List<List<Integer>> layers; // by group
  private final int[] groups; // by layer
  private final int[] places; // by layer
  private final int[] bases; // by group

  private LayerGroups(List<List<Integer>> layers) {
    this.layers = layers;
    int count = layers.stream().mapToInt(List::size).sum();
    this.groups = new int[count];
    this.places = new int[count];
    this.bases = new int[layers.size()];
    int place = 0;
    for (int group = 0; group < layers.size(); group++) {
      bases[group] = place;
      for (int layer : layers.get(group)) {
        groups[layer] = group;
        places[layer] = place++;
      }
    }
  }

  /** Returns a single group of all layers. */
  public static LayerGroups single(int layers) {
    return of(new int[layers]);
  }

  /**
   * Returns groups of layers with equal floors, in order of their first layers.
   *
   * @param floors by layer
   */
  public static LayerGroups of(int[] floors) {
    Map<Integer, List<Integer>> byFloor = new LinkedHashMap<>();
    for (int layer = 0; layer < floors.length; layer++) {
      byFloor.computeIfAbsent(floors[layer], any -> new ArrayList<>()).add(layer);
    }
    if (byFloor.size() > PageTable.MAX_GROUPS) {
      throw new IllegalArgumentException(
          "floors are %s; expected at most %d different ones"
              .formatted(Arrays.toString(floors), PageTable.MAX_GROUPS));
    }
    return new LayerGroups(List.copyOf(byFloor.values()));
  }

  public int count() {
    return layers.size();
  }

  /** Returns the number of layers in a group. */
  public int layers(int group) {
    return layers.get(group).size();
  }

  /** Returns the first layer of each group. */
  public int[] firstLayers() {
    return layers.stream().mapToInt(List::getFirst).toArray();
  }

  public int group(int layer) {
    return groups[layer];
  }

  /** Returns the place of a layer in fp16 pages. */
  public int place(int layer) {
    return places[layer];
  }

  /** Returns the place of a group's first layer. */
  public int base(int group) {
    return bases[group];
  }

  /** Returns the index of a layer within its group. */
  public int index(int layer) {
    return places[layer] - bases[groups[layer]];
  }

  /** Returns the layer at each place. */
  public int[] order() {
    return layers.stream().flatMap(List::stream).mapToInt(Integer::intValue).toArray();
  }
}
