package dev.kvasir.cuda.formats.mead;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import dev.kvasir.codec.mead.HostMeadPage;
import dev.kvasir.codec.mead.MeadParameters;
import dev.kvasir.codec.mead.TableKind;
import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.kernel.RowCodeLayout;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.IntStream;

/** Writes and reads a block of device pages number by number, as {@link PartLayout} defines it. */
final class PlainBlock {
  private static final int TOKENS = Fp16Page.BLOCK_PAGES * Fp16Page.TOKENS;
  private static final int TABLE_AT = PartLayout.KEY_HEADER_BYTES;

  private final MeadModel model;
  private final MeadParameters parameters;
  private final MemorySegment[] pages;
  private final int headDim;

  PlainBlock(MeadModel model, MemorySegment first, MemorySegment second) {
    this.model = model;
    this.parameters = model.parameters();
    this.pages = new MemorySegment[] {first, second};
    this.headDim = model.headDim();
  }

  private MemorySegment part(int layer, int kvHead, boolean ofKeys) {
    BlockLayout.Part part = model.layout().part(layer, kvHead, ofKeys);
    return pages[part.page()].asSlice(part.at(), part.layout().bytes());
  }

  private PartLayout layout(int layer, int kvHead, boolean ofKeys) {
    return model.layout().part(layer, kvHead, ofKeys).layout();
  }

  /**
   * Writes a layer of a quantized block.
   *
   * @param ids token ids, if predictions depend on them
   */
  void write(int layer, int position, HostMeadPage host, int[] ids) {
    for (int kvHead = 0; kvHead < parameters.kvHeads(); kvHead++) {
      MemorySegment keys = part(layer, kvHead, true);
      keys.set(JAVA_INT_UNALIGNED, PartLayout.POSITION_AT, position);
      if (parameters.isTokenDetermined(layer)) {
        for (int token = 0; token < TOKENS; token++) {
          keys.set(JAVA_INT_UNALIGNED, TABLE_AT + 4L * token, ids[token]);
        }
      } else {
        writeHead(layer, kvHead, host, ids);
      }
    }
  }

  private void writeHead(int layer, int kvHead, HostMeadPage host, int[] ids) {
    MemorySegment keys = part(layer, kvHead, true);
    MemorySegment values = part(layer, kvHead, false);
    int[] hostOrder = host.order(kvHead);
    int[] hostRows = hostRows(hostOrder);
    int[] order = Arrays.stream(hostRows).map(row -> hostOrder[row]).toArray();
    for (int row = 0; row < TOKENS; row++) {
      int info =
          order[row]
              | host.scale(kvHead, true, hostRows[row]) << 7
              | host.scale(kvHead, false, hostRows[row]) << 10;
      keys.set(JAVA_SHORT_UNALIGNED, rowAt(row), (short) info);
      if (parameters.kind() == TableKind.CENTROIDS) {
        int token = order[row];
        keys.set(JAVA_BYTE, TABLE_AT + row, (byte) host.centroid(kvHead, true, token));
        keys.set(JAVA_BYTE, TABLE_AT + TOKENS + row, (byte) host.centroid(kvHead, false, token));
      }
      if (parameters.kind() == TableKind.TOKENS) {
        int id = ids[order[row]];
        keys.set(JAVA_SHORT_UNALIGNED, TABLE_AT + 2L * row, (short) parameters.tokenRows()[id]);
      }
      for (boolean ofKeys : new boolean[] {true, false}) {
        for (int channel = 0; channel < headDim; channel++) {
          int code = host.code(kvHead, ofKeys, hostRows[row], channel);
          putCode(layer, kvHead, ofKeys, row, channel, code);
        }
      }
    }
    int[] slots = layout(layer, kvHead, false).order().slots();
    for (int component = 0; parameters.storesMeanErrors() && component < headDim; component++) {
      int mean = meanAt(slots[component]);
      int bits = host.mean(kvHead, component) << 4 * (mean % 2);
      values.set(JAVA_BYTE, mean / 2, (byte) (values.get(JAVA_BYTE, mean / 2) | bits));
    }
  }

  /** Returns the host's row of each row: tokens of the remainders modulo 8 take turns in a tier. */
  private static int[] hostRows(int[] order) {
    int[] ranks = new int[TOKENS]; // earlier tokens of the tier with the same remainder
    int[][] counts = new int[MeadParameters.TIERS][8];
    for (int row = 0; row < TOKENS; row++) {
      ranks[row] = counts[tier(row)][order[row] % 8]++;
    }
    return IntStream.range(0, TOKENS)
        .boxed()
        .sorted(
            Comparator.<Integer>comparingInt(row -> tier(row))
                .thenComparingInt(row -> ranks[row])
                .thenComparingInt(row -> order[row] % 8))
        .mapToInt(Integer::intValue)
        .toArray();
  }

  private static int rowAt(int row) {
    return 2 * (2 * (row % 8 * 8 + row / 16) + row / 8 % 2);
  }

  private static int tier(int row) {
    return row < 64 ? 0 : row < 112 ? 1 : 2;
  }

  private interface BitVisitor {
    void visit(long at, int bit, int ofCode);
  }

  /** Visits the bits of a code, from the highest of its step's width on. */
  private void visit(
      int layer, int kvHead, boolean ofKeys, int row, int channel, BitVisitor visitor) {
    PartLayout layout = layout(layer, kvHead, ofKeys);
    int tier = tier(row);
    int slot = layout.order().slots()[channel];
    int step = slot / 16;
    int width = layout.order().widths()[tier][step];
    int group = row / 64;
    int shared = layout.order().widths()[group][step];
    int tile = row / 16 % 4;
    int own = row % 16;
    int lane = ofKeys ? 4 * (own % 8) + slot % 8 / 2 : 4 * (slot % 8) + own % 8 / 2;
    int register = ofKeys ? own / 8 + 2 * (slot % 16 / 8) : slot % 16 / 8 + 2 * (own / 8);
    int odd = ofKeys ? slot % 2 : own % 2;
    int left = width;
    long at = layout.stepsAt()[group][step];
    while (left > width - shared) {
      int bits = planeBits(left - (width - shared));
      left -= bits;
      int below = left - (width - shared);
      int start = 2 * tile + register % 2 + (bits == 2 ? below : 0);
      for (int i = 0; i < bits; i++) {
        int bit = 32 * (start % bits) + 16 * odd + (start + i + register / 2 * 8) % 16;
        visitor.visit(at + 4L * bits * lane + bit / 8, bit % 8, left + i);
      }
      at += 128L * bits;
    }
    at = layout.stepsAt()[2][step];
    while (left > 0) {
      int bits = planeBits(left);
      left -= bits;
      for (int i = 0; i < bits; i++) {
        int bit =
            switch (bits) {
              case 4 -> 16 * odd + (6 + register % 2 * 4 + register / 2 * 8 + i) % 16;
              case 2 -> 8 * odd + register % 2 * 2 + register / 2 * 4 + i;
              default -> 4 * odd + register;
            };
        visitor.visit(at + (long) bits * lane + bit / 8, bit % 8, left + i);
      }
      at += 32L * bits;
    }
  }

  private static int planeBits(int width) {
    return width >= 4 ? 4 : width >= 2 ? 2 : 1;
  }

  /** Returns the place of a slot's mean error, in units of four bits. */
  private int meanAt(int slot) {
    return (slot % 8 * 2 + slot / 8 % 2) * (headDim / 16) + slot / 16;
  }

  private int shift(int layer, int kvHead, boolean ofKeys, int row, int channel) {
    StepWidths order = layout(layer, kvHead, ofKeys).order();
    int width = order.widths()[tier(row)][order.slots()[channel] / 16];
    return width - codes(layer, kvHead, ofKeys, row).bits(channel);
  }

  private RowCodeLayout codes(int layer, int kvHead, boolean ofKeys, int row) {
    return parameters.head(layer, kvHead).codes(ofKeys, tier(row));
  }

  private void putCode(int layer, int kvHead, boolean ofKeys, int row, int channel, int code) {
    MemorySegment part = part(layer, kvHead, ofKeys);
    int upper = code << shift(layer, kvHead, ofKeys, row, channel);
    visit(
        layer,
        kvHead,
        ofKeys,
        row,
        channel,
        (at, bit, ofCode) -> {
          int before = part.get(JAVA_BYTE, at);
          part.set(JAVA_BYTE, at, (byte) (before | (upper >> ofCode & 1) << bit));
        });
  }

  private int code(int layer, int kvHead, boolean ofKeys, int row, int channel) {
    MemorySegment part = part(layer, kvHead, ofKeys);
    int[] code = new int[1];
    visit(
        layer,
        kvHead,
        ofKeys,
        row,
        channel,
        (at, bit, ofCode) -> code[0] |= (part.get(JAVA_BYTE, at) >> bit & 1) << ofCode);
    return code[0] >> shift(layer, kvHead, ofKeys, row, channel);
  }

  /**
   * Reads rotated keys and values in model order.
   *
   * @param keys (tokens, headDim), set
   */
  void read(int layer, int kvHead, float[] keys, float[] values) {
    MemorySegment part = part(layer, kvHead, true);
    int position = part.get(JAVA_INT_UNALIGNED, PartLayout.POSITION_AT);
    int[] order = model.rotation().pairOrder(headDim);
    for (int row = 0; row < TOKENS; row++) {
      float[] key = new float[headDim];
      float[] value;
      int token;
      if (parameters.isTokenDetermined(layer)) {
        token = row;
        int id = part.get(JAVA_INT_UNALIGNED, TABLE_AT + 4L * row);
        MeadParameters.FirstLayer first = parameters.firstLayer().orElseThrow();
        value = new float[headDim];
        for (int c = 0; c < headDim; c++) {
          long at = 2L * ((long) (id * parameters.kvHeads() + kvHead) * headDim + c);
          key[c] = Float.float16ToFloat(first.keys().get(JAVA_SHORT_UNALIGNED, at));
          value[c] = Float.float16ToFloat(first.values().get(JAVA_SHORT_UNALIGNED, at));
        }
      } else {
        int info = part.get(JAVA_SHORT_UNALIGNED, rowAt(row));
        token = info & 127;
        residuals(layer, kvHead, true, row, info >> 7 & 7, key);
        float[] components = new float[headDim];
        residuals(layer, kvHead, false, row, info >> 10 & 7, components);
        addMeans(layer, kvHead, components);
        value = transformed(parameters.head(layer, kvHead).valueFrom(), components);
      }
      float[] inOrder = new float[headDim];
      for (int c = 0; c < headDim; c++) {
        inOrder[order[c]] = key[c];
      }
      model.rotation().rotate(inOrder, 0, headDim, 1, position + token);
      System.arraycopy(inOrder, 0, keys, token * headDim, headDim);
      System.arraycopy(value, 0, values, token * headDim, headDim);
    }
  }

  private float[] transformed(float[] matrix, float[] components) {
    float[] out = new float[headDim];
    for (int c = 0; c < headDim; c++) {
      double sum = 0;
      for (int i = 0; i < headDim; i++) {
        sum += (double) matrix[c * headDim + i] * components[i];
      }
      out[c] = (float) sum;
    }
    return out;
  }

  private void addMeans(int layer, int kvHead, float[] components) {
    MemorySegment part = part(layer, kvHead, false);
    int[] slots = layout(layer, kvHead, false).order().slots();
    float[] units = parameters.head(layer, kvHead).meanUnits();
    for (int i = 0; parameters.storesMeanErrors() && i < headDim; i++) {
      int mean = meanAt(slots[i]);
      int nibble = part.get(JAVA_BYTE, mean / 2) >> 4 * (mean % 2) & 15;
      components[i] += (nibble << 28 >> 28) * units[i];
    }
  }

  /** Sets predictions plus residuals. */
  private void residuals(int layer, int kvHead, boolean ofKeys, int row, int scale, float[] out) {
    MemorySegment keys = part(layer, kvHead, true);
    int tableRow =
        switch (parameters.kind()) {
          case OFF -> 0;
          case CENTROIDS ->
              Byte.toUnsignedInt(keys.get(JAVA_BYTE, TABLE_AT + (ofKeys ? 0 : TOKENS) + row));
          case TOKENS -> Short.toUnsignedInt(keys.get(JAVA_SHORT_UNALIGNED, TABLE_AT + 2L * row));
        };
    parameters.head(layer, kvHead).base(ofKeys).dequantize(tableRow, out, 0);
    RowCodeLayout codes = codes(layer, kvHead, ofKeys, row);
    for (int channel = 0; channel < headDim; channel++) {
      if (codes.bits(channel) > 0) {
        int code = code(layer, kvHead, ofKeys, row, channel);
        out[channel] += codes.value(channel, code, RowCodeLayout.scale(scale));
      }
    }
  }
}
