package dev.kvasir.codec.pmkvq;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.PageReaders;
import dev.kvasir.codec.PageRoom;
import dev.kvasir.codec.uniform.UniformPage;
import java.util.Optional;

/**
 * A layer's keys and values at one of the levels. Where there are factors, keys are packed divided
 * by them: whoever computes on keys multiplies queries by those.
 */
public final class PmkvqPage implements Page {
  private final UniformPage codes;
  private final int level;
  private final Optional<Smoothing> smoothing;

  PmkvqPage(UniformPage codes, int level, Optional<Smoothing> smoothing) {
    this.codes = codes;
    this.level = level;
    this.smoothing = smoothing;
  }

  @Override
  public PageReader reader(PageReaders readers) {
    return readers.of(PmkvqReader.KIND);
  }

  /** Values, and keys as they are packed. */
  public UniformPage codes() {
    return codes;
  }

  /** What keys were divided by. */
  public Optional<Smoothing> smoothing() {
    return smoothing;
  }

  int level() {
    return level;
  }

  /** Bits of a code. */
  public int bits() {
    return HeadWidths.bits(level);
  }

  @Override
  public void expandKeys(PageRoom room, int kvHead, int tokens, float[] out) {
    codes.expandKeys(room, kvHead, tokens, out);
    smoothing.ifPresent(factors -> factors.multiply(kvHead, out, tokens));
  }

  @Override
  public void expandValues(PageRoom room, int kvHead, int tokens, float[] out) {
    codes.expandValues(room, kvHead, tokens, out);
  }

  @Override
  public long codeBytes() {
    return codes.codeBytes();
  }

  @Override
  public long scaleBytes() {
    return codes.scaleBytes();
  }

  @Override
  public void close() {
    codes.close();
  }
}
