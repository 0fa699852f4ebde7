package dev.kvasir.methods.rotatekv;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageWorkspace;
import dev.kvasir.codec.basis.AuxiliaryNumbers;
import dev.kvasir.codec.basis.Hadamard;
import dev.kvasir.codec.uniform.UniformPage;
import dev.kvasir.kernel.Rotation;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Keys of a layer in groups of heads. RoPE is undone, the channels of a group are rotated together,
 * and then sorted by their means on the page. Channels that share a scale are thus alike.
 *
 * @param headsPerGroup heads of a group; divides the number of KV heads
 * @param reordersChannels whether each page sorts its channels
 * @param rotation RoPE of the keys, if known; otherwise keys are quantized with it
 */
record KeyGroups(
    int kvHeads,
    int headsPerGroup,
    int keyDim,
    boolean reordersChannels,
    Optional<Rotation> rotation) {
  private static final int TOKENS = Page.TOKENS;

  /** Returns the length of the stored channel order: that of each group, group after group. */
  int orderLength() {
    return reordersChannels ? kvHeads * keyDim : 0;
  }

  /** Returns the number of channels of a group. */
  int width() {
    return headsPerGroup * keyDim;
  }

  /**
   * Transforms keys in place to the form that is quantized.
   *
   * @param keys (kvHeads, tokens, keyDim)
   * @param position position of the page
   * @param hadamard transform of a group
   * @param modelOrder the channel order of the layer, group after group; null if there is none
   * @return the order of channels, if the page stores it
   */
  short[] rotateAndReorder(float[] keys, int position, Hadamard hadamard, int[] modelOrder) {
    short[] order = new short[orderLength()];
    float[] rows = new float[TOKENS * width()];
    for (int first = 0; first < kvHeads; first += headsPerGroup) {
      for (int head = 0; head < headsPerGroup; head++) {
        int at = (first + head) * TOKENS * keyDim;
        unrotate(keys, at, position);
        gather(keys, at, rows, head);
      }
      hadamard.transform(0, rows, 0, TOKENS);
      int[] channels = channelOrder(rows, first, modelOrder);
      scatter(rows, channels, keys, first);
      for (int place = 0; reordersChannels && place < width(); place++) {
        order[first * keyDim + place] = (short) channels[place];
      }
    }
    return order;
  }

  private void scatter(float[] rows, int[] channels, float[] keys, int first) {
    for (int place = 0; place < width(); place++) {
      int at = (first + place / keyDim) * TOKENS * keyDim + place % keyDim;
      for (int token = 0; token < TOKENS; token++) {
        keys[at + token * keyDim] = rows[token * width() + channels[place]];
      }
    }
  }

  private void unrotate(float[] keys, int at, int position) {
    if (rotation.isPresent()) {
      rotation.get().rotate(keys, at, keyDim, TOKENS, -position);
      rotation.get().unrotateConsecutive(keys, at, keyDim, TOKENS);
    }
  }

  private void gather(float[] keys, int at, float[] rows, int head) {
    for (int token = 0; token < TOKENS; token++) {
      System.arraycopy(keys, at + token * keyDim, rows, token * width() + head * keyDim, keyDim);
    }
  }

  /** Returns a group's channels: sorted by their sums over tokens, as the model says, or as is. */
  private int[] channelOrder(float[] rows, int firstHead, int[] modelOrder) {
    if (modelOrder != null) {
      return Arrays.copyOfRange(modelOrder, firstHead * keyDim, firstHead * keyDim + width());
    }
    if (!reordersChannels) {
      return IntStream.range(0, width()).toArray();
    }
    double[] sums = new double[width()];
    for (int i = 0; i < rows.length; i++) {
      sums[i % width()] += rows[i];
    }
    return sorted(sums, 0);
  }

  /** Returns the channels of all groups, each sorted by a number. // (kvHeads * keyDim) */
  int[] sorted(float[] numbers) {
    double[] wide = new double[numbers.length];
    Arrays.setAll(wide, i -> numbers[i]);
    int[] order = new int[numbers.length];
    for (int first = 0; first < order.length; first += width()) {
      System.arraycopy(sorted(wide, first), 0, order, first, width());
    }
    return order;
  }

  private int[] sorted(double[] numbers, int first) {
    return IntStream.range(0, width())
        .boxed()
        .sorted(Comparator.comparingDouble(channel -> numbers[first + channel]))
        .mapToInt(Integer::intValue)
        .toArray();
  }

  /** Returns whether an order names each channel of each group once. */
  boolean isPermutation(AuxiliaryNumbers order) {
    for (int first = 0; first < orderLength(); first += width()) {
      boolean[] seen = new boolean[width()];
      for (int place = 0; place < width(); place++) {
        int channel = order.index(first + place);
        if (channel >= width() || seen[channel]) {
          return false;
        }
        seen[channel] = true;
      }
    }
    return true;
  }

  /**
   * Dequantizes the keys of a head and restores them.
   *
   * @param codes the quantized keys
   * @param modelOrder the channel order of the layer; null if pages have their own or none
   * @param position position of the page
   * @param out (tokens, keyDim), set
   */
  void expand(
      PageWorkspace workspace,
      UniformPage codes,
      AuxiliaryNumbers order,
      int[] modelOrder,
      Hadamard hadamard,
      int position,
      int kvHead,
      int tokens,
      float[] out) {
    HeadGroupScratch scratch = workspace.scratch(HeadGroupScratch.class, HeadGroupScratch::new);
    float[] rows = scratch.rows(TOKENS * width());
    int first = kvHead / headsPerGroup * headsPerGroup;
    for (int head = 0; head < headsPerGroup; head++) {
      codes.dequantizeKeys(workspace, first + head, tokens, out);
      int[] channels = scratch.channels(keyDim);
      for (int i = 0; i < keyDim; i++) {
        int place = head * keyDim + i;
        channels[i] = channel(order, modelOrder, first * keyDim + place, place);
      }
      for (int token = 0; token < tokens; token++) {
        for (int i = 0; i < keyDim; i++) {
          rows[token * width() + channels[i]] = out[token * keyDim + i];
        }
      }
    }
    hadamard.invert(0, rows, 0, tokens);
    int from = (kvHead - first) * keyDim;
    for (int token = 0; token < tokens; token++) {
      System.arraycopy(rows, token * width() + from, out, token * keyDim, keyDim);
    }
    if (rotation.isPresent()) {
      rotation.get().rotateConsecutive(out, 0, keyDim, tokens);
      rotation.get().rotate(out, 0, keyDim, tokens, position);
    }
  }

  private int channel(AuxiliaryNumbers order, int[] modelOrder, int index, int place) {
    if (modelOrder != null) {
      return modelOrder[index];
    }
    return reordersChannels ? order.index(index) : place;
  }

  /** Scratch arrays of one worker for dequantizing keys of a group of heads. */
  private static final class HeadGroupScratch {
    private float[] rows = {};
    private int[] channels = {};

    /** Returns an array for (tokens, channels of a group). */
    float[] rows(int count) {
      if (rows.length < count) {
        rows = new float[count];
      }
      return rows;
    }

    /** Returns an array for the original channel of each stored one. */
    int[] channels(int count) {
      if (channels.length < count) {
        channels = new int[count];
      }
      return channels;
    }
  }
}
