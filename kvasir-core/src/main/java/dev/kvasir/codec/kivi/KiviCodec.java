package dev.kvasir.codec.kivi;

import dev.kvasir.codec.StatelessCodec;
import dev.kvasir.page.HeadShape;
import dev.kvasir.page.Page;
import dev.kvasir.page.UniformPage;
import java.util.Collections;
import java.util.List;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;

/**
 * KIVI: keys are quantized channel by channel, because a few channels carry most of their range,
 * and values token by token. Nothing is learned and nothing is kept between pages.
 */
public final class KiviCodec implements StatelessCodec {
  private final int kvHeads;
  private final List<HeadShape> heads; // by layer, or one for all

  public KiviCodec(int kvHeads, HeadShape head) {
    this(kvHeads, List.of(head));
  }

  /**
   * @param heads of each layer, which may differ in their widths
   */
  public KiviCodec(int kvHeads, List<HeadShape> heads) {
    this.kvHeads = kvHeads;
    this.heads = List.copyOf(heads);
  }

  @Override
  public Page seal(int layer, int position, float[] keys, float[] values) {
    return UniformPage.pack(Collections.nCopies(kvHeads, head(layer)), keys, values);
  }

  private HeadShape head(int layer) {
    return heads.get(heads.size() == 1 ? 0 : layer);
  }

  /** Of the first layer. */
  @Override
  public long pageBytes() {
    return (long) kvHeads * heads.getFirst().bytes();
  }

  @Override
  public long codeBytes() {
    return (long) kvHeads * heads.getFirst().codeBytes();
  }

  @Override
  public long blockBytes(int layers) {
    return sum(layers, HeadShape::bytes);
  }

  @Override
  public long blockCodeBytes(int layers) {
    return sum(layers, HeadShape::codeBytes);
  }

  private long sum(int layers, ToLongFunction<HeadShape> bytes) {
    return kvHeads * IntStream.range(0, layers).mapToObj(this::head).mapToLong(bytes).sum();
  }
}
