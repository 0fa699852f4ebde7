package dev.kvasir.methods.vqllm;

import dev.kvasir.kernel.Rotation;
import java.util.Optional;

/** Removes RoPE from keys and puts them in pair order, and the inverse. */
final class KeyRotation {
  private final Rotation rotation;
  private final int[] channels; // (keyDim), channel at each index of the pair order

  KeyRotation(Rotation rotation, int keyDim) {
    this.rotation = rotation;
    this.channels = rotation.pairOrder(keyDim);
  }

  /**
   * @param keys (tokens, keyDim) of consecutive positions from {@code at} on, in place
   */
  void unrotate(float[] keys, int at, int tokens, int position) {
    int dim = channels.length;
    rotation.rotate(keys, at, dim, tokens, -position);
    rotation.unrotateConsecutive(keys, at, dim, tokens);
    float[] paired = new float[dim];
    for (int token = at; token < at + tokens * dim; token += dim) {
      for (int place = 0; place < dim; place++) {
        paired[place] = keys[token + channels[place]];
      }
      System.arraycopy(paired, 0, keys, token, dim);
    }
  }

  /**
   * Rotates all vectors back by one position.
   *
   * @param x (count, keyDim) in the model's order, in place
   */
  void unrotateAll(float[] x, int count, int position) {
    rotation.rotate(x, 0, channels.length, count, -position);
  }

  /** Returns the table of keys in group order; empty unless all groups are full. */
  Optional<GroupedRopeTable> groupedTable(ChannelGroups keys) {
    return GroupedRopeTable.isApplicable(keys)
        ? Optional.of(GroupedRopeTable.of(rotation.table(channels.length), keys))
        : Optional.empty();
  }

  /** Returns the channel at each index of the pair order. // (keyDim) */
  int[] channels() {
    return channels;
  }

  /**
   * Rotates keys to their positions.
   *
   * @param keys (tokens, keyDim) in the model's order, in place
   */
  void rotate(float[] keys, int tokens, int position) {
    int dim = channels.length;
    rotation.rotateConsecutive(keys, 0, dim, tokens);
    rotation.rotate(keys, 0, dim, tokens, position);
  }
}
