package dev.kvasir.codec.kivi;

import dev.kvasir.codec.StatelessCodec;
import dev.kvasir.page.HeadShape;
import dev.kvasir.page.Page;
import dev.kvasir.page.UniformPage;
import java.util.Collections;
import java.util.List;

/**
 * KIVI: keys are quantized channel by channel, because a few channels carry most of their range,
 * and values token by token. Nothing is learned and nothing is kept between pages.
 */
public final class KiviCodec implements StatelessCodec {
  private final HeadShape head;
  private final List<HeadShape> heads;

  public KiviCodec(int kvHeads, HeadShape head) {
    this.head = head;
    this.heads = Collections.nCopies(kvHeads, head);
  }

  @Override
  public Page seal(int layer, int position, float[] keys, float[] values) {
    return UniformPage.pack(heads, keys, values);
  }

  @Override
  public long pageBytes() {
    return (long) heads.size() * head.bytes();
  }

  @Override
  public long codeBytes() {
    return (long) heads.size() * head.codeBytes();
  }
}
