package dev.kvasir.lab.report;

import dev.kvasir.cache.CacheBytes;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.format.AtomicFile;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;

/**
 * A plot of cache size over sequence length, next to fp16. For a cache with a budget, it also shows
 * the budget and the current bits of codes on an axis at the right.
 */
public final class GrowthPlot {
  private static final int WIDTH = 720;
  private static final int HEIGHT = 340;
  private static final int LEFT = 64;
  private static final int TOP = 40;
  private static final int RIGHT = 56;
  private static final int BOTTOM = 56;
  private static final int SAMPLES = 500;
  private static final double MIB = 0x1p20;
  private static final String GROWING = "#4477aa";
  private static final String LIMIT = "#cc6677";
  private static final String CODES = "#228833";
  private static final List<Integer> BITS = List.of(2, 4, 8, 16);

  private final CacheSpec spec;
  private final CacheShape shape;
  private final CacheContext context;
  private final CacheConfig settings;
  private final Optional<Double> limit; // MiB
  private final List<Sample> samples;
  private final Axis tokens;
  private final Axis mebibytes;
  private final Axis bits = new Axis(17, HEIGHT - BOTTOM, TOP);

  /**
   * @param context context with the maximum length
   */
  public GrowthPlot(CacheSpec spec, CacheShape shape, CacheContext context) {
    this.spec = spec;
    this.shape = shape;
    this.context = context;
    this.settings = spec.config().estimationConfig(shape, context);
    this.limit = spec.budgetBytes(shape, context).map(bytes -> bytes / MIB);
    this.tokens = new Axis(context.contextLimit(), LEFT, WIDTH - RIGHT);
    this.samples = samples();
    double most = samples.stream().mapToDouble(Sample::size).max().orElseThrow();
    this.mebibytes = new Axis(1.12 * Math.max(most, limit.orElse(0.0)), HEIGHT - BOTTOM, TOP);
  }

  public void write(Path file) {
    AtomicFile.write(file, svg());
  }

  private List<Sample> samples() {
    int step = Math.max(1, context.contextLimit() / SAMPLES);
    List<Sample> found = new ArrayList<>();
    for (int length = step; length <= context.contextLimit(); length += step) {
      CacheBytes bytes = spec.bytesFor(shape, context, length);
      found.add(new Sample(length, bytes.total() / MIB, codeBits(length, bytes)));
    }
    return List.copyOf(found);
  }

  /**
   * A point of the curve.
   *
   * @param size size in MiB
   * @param codeBits bits of a quantized element; 0 before there is one
   */
  private record Sample(int length, double size, double codeBits) {}

  String svg() {
    String title = "%s while a text grows".formatted(spec);
    SvgPicture picture = new SvgPicture(title, WIDTH, HEIGHT).title(LEFT, title);
    axes(picture);
    halfPrecision(picture);
    picture.polyline(
        samples.stream()
            .map(sample -> new double[] {tokens.at(sample.length), mebibytes.at(sample.size)})
            .toList(),
        GROWING);
    limit.ifPresent(size -> budget(picture, size));
    return picture.svg();
  }

  private void axes(SvgPicture picture) {
    for (double tick : tokens.ticks()) {
      picture.text(tokens.at(tick), HEIGHT - BOTTOM + 18, "middle", Axis.label(tick));
    }
    for (double tick : mebibytes.ticks()) {
      picture
          .grid(LEFT, mebibytes.at(tick), WIDTH - RIGHT, mebibytes.at(tick))
          .text(LEFT - 8, mebibytes.at(tick) + 4, "end", Axis.label(tick));
    }
    picture
        .text((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 14, "middle", "tokens")
        .uprightText(16, (TOP + HEIGHT - BOTTOM) / 2.0, "MiB (blue)");
  }

  /** Draws fp16 as far as the plot reaches. */
  private void halfPrecision(SvgPicture picture) {
    double x = tokens.at(0);
    double y = mebibytes.at(0);
    double from = 0;
    for (double breakpoint : breakpoints()) {
      double size = halfPrecision(from);
      double slope = (halfPrecision(breakpoint) - size) / (breakpoint - from);
      double end = Math.clamp(from + (mebibytes.most() - size) / slope, from, breakpoint);
      double toX = tokens.at(end);
      double toY = mebibytes.at(size + (end - from) * slope);
      picture.dashes(x, y, toX, toY, SvgPicture.GREY);
      x = toX;
      y = toY;
      from = breakpoint;
    }
    picture.text(x + 6, y + 10, "start", "fp16");
  }

  /** Returns the lengths at which a layer's sliding window is full, and the end. */
  private double[] breakpoints() {
    IntStream windows = IntStream.range(0, shape.layers()).map(shape.windows()::of);
    return DoubleStream.concat(windows.asDoubleStream(), DoubleStream.of(tokens.most()))
        .filter(length -> length <= tokens.most())
        .sorted()
        .distinct()
        .toArray();
  }

  private double halfPrecision(double length) {
    return 2.0 * shape.valuesInWindows((int) length) / MIB;
  }

  private void budget(SvgPicture picture, double size) {
    double y = mebibytes.at(size);
    picture
        .dashes(LEFT, y, WIDTH - RIGHT, y, LIMIT)
        .text(WIDTH - RIGHT - 6, y - 6, "end", "budget");
    for (int width : BITS) {
      picture.text(WIDTH - RIGHT + 8, bits.at(width) + 4, "start", String.valueOf(width));
    }
    picture.uprightText(WIDTH - 14, (TOP + HEIGHT - BOTTOM) / 2.0, "bits of a code (green)");
    List<double[]> line =
        samples.stream()
            .filter(sample -> sample.codeBits > 0)
            .map(sample -> new double[] {tokens.at(sample.length), bits.at(sample.codeBits)})
            .toList();
    picture.polyline(line, CODES);
  }

  private double codeBits(int length, CacheBytes bytes) {
    int past = Math.max(0, length - settings.sinks() - settings.window());
    int quantized = past / KvCache.TOKENS_PER_PAGE * KvCache.TOKENS_PER_PAGE;
    return quantized == 0 ? 0 : 8.0 * bytes.codes() / quantized / shape.valuesPerToken();
  }
}
