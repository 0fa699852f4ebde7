package dev.kvasir.codec.mead;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Pages of a layer of the bundled model, the tables of that layer, and the output of the reference
 * scripts. The README next to the files states their shapes.
 */
final class ReferencePages {
  static final int PAGES = 2;
  static final int KV_HEADS = 2;
  static final int DIM = 64;

  /** Scale of a row without codes. */
  static final int NO_SCALE = 255;

  private ReferencePages() {}

  /** Returns the tables of the layer. */
  static MeadProfile profile() {
    List<HeadProfile> heads = IntStream.range(0, KV_HEADS).mapToObj(ReferencePages::head).toList();
    return new MeadProfile(TableKind.TOKENS, List.of(heads), new int[] {0});
  }

  private static HeadProfile head(int head) {
    TierStatistics tiers =
        new TierStatistics(
            part(floats("deviations.f32"), head, KV_HEADS),
            part(floats("class-weights.f32"), head, KV_HEADS));
    return new HeadProfile(
        part(floats("key-weights.f32"), head, KV_HEADS),
        part(floats("value-to.f32"), head, KV_HEADS),
        new float[DIM * DIM], // unused: nothing is decoded
        tiers,
        tiers,
        part(floats("importance.f32"), head, KV_HEADS),
        part(floats("mean-units.f32"), head, KV_HEADS),
        part(floats("lows.f32"), head, KV_HEADS),
        part(floats("steps.f32"), head, KV_HEADS),
        rows(head));
  }

  private static short[] rows(int head) {
    short[] words = new short[bytes("rows.u16").remaining() / Short.BYTES];
    bytes("rows.u16").asShortBuffer().get(words);
    int each = words.length / KV_HEADS;
    return Arrays.copyOfRange(words, head * each, (head + 1) * each);
  }

  /** Returns keys before RoPE, in pair order. // (tokens, DIM) */
  static float[] keys(int page, int head) {
    return ofPage(halves("keys.f16"), page, head);
  }

  /** Returns values. // (tokens, DIM) */
  static float[] values(int page, int head) {
    return ofPage(halves("values.f16"), page, head);
  }

  /** Returns received attention. // (tokens) */
  static int[] received(int page, int head) {
    int[] all = new int[bytes("received.i32").remaining() / Integer.BYTES];
    bytes("received.i32").asIntBuffer().get(all);
    int each = all.length / (PAGES * KV_HEADS);
    int at = (page * KV_HEADS + head) * each;
    return Arrays.copyOfRange(all, at, at + each);
  }

  /** Returns the table row of each token. */
  static int[] tableRows(int page) {
    return part(unsigned("picks.u8"), page, PAGES);
  }

  /** Returns bit widths. // (tiers, channels of keys and components) */
  static int[] bits(int head) {
    return part(unsigned("bits.u8"), head, KV_HEADS);
  }

  /** Returns the tier of each token. // (tokens) */
  static int[] tiers(int page, int head) {
    return ofPage(unsigned("classes.u8"), page, head);
  }

  /** Returns scales, or {@link #NO_SCALE}. // (tokens, keys and values) */
  static int[] scales(int page, int head) {
    return ofPage(unsigned("scales.u8"), page, head);
  }

  /** Returns codes; 0 for a channel without bits. // (tokens, channels of keys and components) */
  static int[] codes(int page, int head) {
    return ofPage(unsigned("codes.u8"), page, head);
  }

  /** Returns mean errors. // (DIM) */
  static int[] means(int page, int head) {
    int[] means = ofPage(unsigned("means.i8"), page, head);
    Arrays.setAll(means, i -> (byte) means[i]);
    return means;
  }

  private static float[] ofPage(float[] all, int page, int head) {
    return part(all, page * KV_HEADS + head, PAGES * KV_HEADS);
  }

  private static int[] ofPage(int[] all, int page, int head) {
    return part(all, page * KV_HEADS + head, PAGES * KV_HEADS);
  }

  private static float[] part(float[] all, int index, int parts) {
    int each = all.length / parts;
    return Arrays.copyOfRange(all, index * each, (index + 1) * each);
  }

  private static int[] part(int[] all, int index, int parts) {
    int each = all.length / parts;
    return Arrays.copyOfRange(all, index * each, (index + 1) * each);
  }

  private static float[] floats(String name) {
    float[] numbers = new float[bytes(name).remaining() / Float.BYTES];
    bytes(name).asFloatBuffer().get(numbers);
    return numbers;
  }

  private static float[] halves(String name) {
    ByteBuffer bytes = bytes(name);
    float[] numbers = new float[bytes.remaining() / Short.BYTES];
    for (int i = 0; i < numbers.length; i++) {
      numbers[i] = Float.float16ToFloat(bytes.getShort());
    }
    return numbers;
  }

  private static int[] unsigned(String name) {
    ByteBuffer bytes = bytes(name);
    return IntStream.range(0, bytes.remaining())
        .map(i -> Byte.toUnsignedInt(bytes.get(i)))
        .toArray();
  }

  private static ByteBuffer bytes(String name) {
    try (InputStream in = ReferencePages.class.getResourceAsStream("golden/" + name)) {
      return ByteBuffer.wrap(in.readAllBytes()).order(ByteOrder.LITTLE_ENDIAN);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
