package dev.kvasir.codec.kivi;

import dev.kvasir.codec.PageCodec;
import dev.kvasir.page.Page;
import dev.kvasir.page.UniformPage;
import dev.kvasir.page.UniformShape;

/**
 * KIVI: keys are quantized channel by channel, because a few channels carry most of their range,
 * and values token by token. Nothing is learned and nothing is kept between pages.
 */
public record KiviCodec(UniformShape shape) implements PageCodec {
  @Override
  public Page seal(int layer, float[] keys, float[] values) {
    return new UniformPage(shape, keys, values);
  }

  @Override
  public long pageBytes() {
    return shape.bytes();
  }

  @Override
  public long codeBytes() {
    return shape.codeBytes();
  }
}
