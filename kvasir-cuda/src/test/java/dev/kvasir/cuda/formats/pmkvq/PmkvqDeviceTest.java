package dev.kvasir.cuda.formats.pmkvq;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.data.Offset.offset;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.cache.PageWidths;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.LayerWidths;
import dev.kvasir.codec.PageWorkspace;
import dev.kvasir.codec.SpecText;
import dev.kvasir.codec.basis.SmoothingFactors;
import dev.kvasir.codec.pmkvq.KeyScaleAxis;
import dev.kvasir.codec.pmkvq.PmkvqConfig;
import dev.kvasir.codec.pmkvq.PmkvqPage;
import dev.kvasir.cuda.driver.DeviceTestCase;
import dev.kvasir.cuda.engine.DeviceCache;
import dev.kvasir.cuda.engine.DeviceCacheFixture;
import dev.kvasir.cuda.formats.DeviceCacheConfig;
import dev.kvasir.cuda.formats.ReferenceAttention;
import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.cuda.memory.PackedPage;
import dev.kvasir.cuda.memory.PackedPageReader;
import dev.kvasir.kernel.ScalarKernels;
import dev.kvasir.profile.Profile;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Pages requantized on a device: the same widths and numbers as on the host, and their attention.
 */
class PmkvqDeviceTest extends DeviceTestCase {
  private static final int LAYERS = 3;
  private static final int TOKENS = Fp16Page.TOKENS;
  private static final int BLOCK = 128;
  private static final double MOST_ERROR = 3e-3;
  private static final int KV_HEADS = 2;

  private final Random random = new Random(9);

  /** A device cache and a host cache. */
  private final class CachePair implements AutoCloseable {
    final AttentionShape shape;
    final int sinks;
    final boolean isByToken;
    final List<SmoothingFactors> factors; // by layer, or empty
    final DeviceCacheFixture home;
    final DeviceCache ours;
    final KvCache host;
    final List<short[][][]> rows = new ArrayList<>();
    final TreeSet<Integer> widthsSeen = new TreeSet<>();

    CachePair(String text, AttentionShape shape) {
      CacheSpec spec = CacheSpec.parse(text);
      CacheContext context = CacheContext.unknown().withProfile(profile(shape));
      CacheShape cacheShape = new CacheShape(LAYERS, shape.kvHeads(), shape.headDim());
      PmkvqConfig config = PmkvqConfig.of(new SpecText(text));
      DeviceCacheConfig cacheConfig =
          PmkvqFormatProvider.cacheConfig(config, Optional.of(cacheShape), context);
      this.shape = shape;
      this.sinks = cacheConfig.sinks();
      this.isByToken = config.keyScales() == KeyScaleAxis.TOKEN;
      this.factors =
          config.usesSmoothing() ? SmoothingFactors.of(context.profile(), cacheShape) : List.of();
      this.home = new DeviceCacheFixture(device, cacheConfig, shape, LAYERS);
      int[] layers = home.resources.levels().groups().firstLayers();
      this.ours = home.newCache(PageWidths.of(spec, cacheShape, context, layers));
      this.host = spec.newCache(cacheShape, context);
    }

    CachePair(CachePair parent) {
      this.shape = parent.shape;
      this.sinks = parent.sinks;
      this.isByToken = parent.isByToken;
      this.factors = parent.factors;
      this.home = parent.home;
      this.ours = (DeviceCache) parent.ours.fork();
      this.host = parent.host.fork();
      this.rows.addAll(parent.rows);
    }

    private int width() {
      return shape.kvHeads() * shape.headDim();
    }

    void append(int... steps) {
      for (int count : steps) {
        short[][][] step = new short[LAYERS][2][count * width()];
        for (short[][] layer : step) {
          for (short[] side : layer) {
            for (int i = 0; i < side.length; i++) {
              side[i] = Float.floatToFloat16((float) random.nextGaussian());
            }
          }
        }
        rows.add(step);
        home.append(ours, host, step);
      }
    }

    /** Returns the remaining rows. // (length, kvHeads, headDim) */
    private float[] all(int layer, int side) {
      float[] all = new float[ours.length() * width()];
      int at = 0;
      for (short[][][] step : rows) {
        float[] part = DeviceCacheFixture.floats(step[layer][side]);
        int count = Math.min(part.length, all.length - at);
        System.arraycopy(part, 0, all, at, count);
        at += count;
      }
      return all;
    }

    /** Returns the dequantized keys or values of a packed page. // (64, headDim) */
    private float[] dequantized(int bits, MemorySegment page, int layer, int head, int side) {
      int dim = shape.headDim();
      float unit = PmkvqFormat.unit(bits);
      if (isByToken) {
        float[] all = new TokenScaledPageReader(bits, dim).dequantized(page, side, unit);
        if (side == 0 && !factors.isEmpty()) {
          factors.get(layer).invert(head, all, 0, TOKENS);
        }
        return all;
      }
      PackedPageReader layout = new PackedPageReader(bits, dim);
      float[] all = new float[TOKENS * dim];
      for (int i = 0; i < all.length; i++) {
        all[i] =
            side == 0
                ? layout.key(page, i / dim, i % dim, unit)
                : layout.value(page, i / dim, i % dim, unit);
      }
      return all;
    }

    /**
     * Returns a head's keys or values as attention sees them, and compares every packed page with
     * the host's.
     */
    float[] dequantized(int layer, int head, int side) {
      int dim = shape.headDim();
      float[] all = all(layer, side);
      float[] out = new float[ours.length() * dim];
      for (int i = 0; i < out.length; i++) {
        out[i] = all[(i / dim * shape.kvHeads() + head) * dim + i % dim];
      }
      float[] expected = new float[BLOCK * dim];
      for (int p = 0; p < home.packedPages(ours); p++) {
        int level = home.level(ours, layer, p);
        int bits = PmkvqFormat.BITS[level];
        PmkvqPage wanted = (PmkvqPage) host.view(layer, host.blockOf(sinks + p * TOKENS)).page();
        assertThat(bits).as("bits of page %d of %d", p, ours.length()).isEqualTo(wanted.bits());
        widthsSeen.add(bits);
        if (level == 0) {
          continue; // unchanged fp16
        }
        if (side == 0) {
          wanted.dequantizeKeys(new PageWorkspace(new ScalarKernels()), head, BLOCK, expected);
        } else {
          wanted.dequantizeValues(new PageWorkspace(new ScalarKernels()), head, BLOCK, expected);
        }
        long bytes = isByToken ? new TokenScaledPage(bits, dim).bytes() : packedBytes(bits, dim);
        MemorySegment page = home.read(home.requantizedPage(ours, layer, p) + head * bytes, bytes);
        float[] found = dequantized(bits, page, layer, head, side);
        for (int i = 0; i < found.length; i++) {
          float its = expected[p % 2 * TOKENS * dim + i];
          assertThat(found[i])
              .as("page %d of %d bits, side %d, token %d", p, bits, side, i / dim)
              .isCloseTo(its, offset(1e-5f * (1 + Math.abs(its))));
        }
        System.arraycopy(found, 0, out, (sinks + p * TOKENS) * dim, found.length);
      }
      return out;
    }

    private static long packedBytes(int bits, int dim) {
      return new PackedPage(bits, dim).bytes();
    }

    void check() {
      short[] queries = new short[shape.queryHeads() * shape.headDim()];
      for (int i = 0; i < queries.length; i++) {
        queries[i] = Float.floatToFloat16((float) random.nextGaussian());
      }
      for (int layer = 0; layer < LAYERS; layer++) {
        double[] wanted = new double[queries.length];
        for (int kvHead = 0; kvHead < shape.kvHeads(); kvHead++) {
          float[] keys = dequantized(layer, kvHead, 0);
          float[] values = dequantized(layer, kvHead, 1);
          for (int h = 0; h < shape.queriesPerKvHead(); h++) {
            int at = (kvHead * shape.queriesPerKvHead() + h) * shape.headDim();
            ReferenceAttention.attend(
                shape.headDim(), queries, at, keys, values, ours.length(), wanted);
          }
        }
        float[] found = home.attend(ours, layer, queries);
        double off = 0;
        double norm = 0;
        for (int i = 0; i < wanted.length; i++) {
          off += (found[i] - wanted[i]) * (found[i] - wanted[i]);
          norm += wanted[i] * wanted[i];
        }
        assertThat(Math.sqrt(off / norm))
            .as("%d tokens, widths %s", ours.length(), widthsSeen)
            .isLessThan(MOST_ERROR);
      }
    }

    @Override
    public void close() {
      ours.close();
      host.close();
    }
  }

  /** Factors from a half to four, and layers of 2, 4 and 2 bits. */
  private static Optional<Profile> profile(AttentionShape shape) {
    Random numbers = new Random(4);
    float[] factors = new float[LAYERS * shape.kvHeads() * shape.headDim()];
    for (int i = 0; i < factors.length; i++) {
      factors[i] = (float) Math.pow(2, 3 * numbers.nextDouble() - 1);
    }
    return Optional.of(
        Profile.empty("m")
            .with("pmkvq/smoothing", factors, LAYERS, shape.kvHeads(), shape.headDim())
            .with(LayerWidths.KEY, new float[] {2, 4, 2}, LAYERS));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "pmkvq:2,budget=1050KiB,widths=same | 64",
        "pmkvq:2,budget=2100KiB,widths=same,sinks=16 | 128",
        "pmkvq:4,budget=1350KiB,widths=same,shrink=layer | 64",
        "pmkvq:2,budget=1050KiB,widths=same,born=wide,shift=direct | 64",
        "pmkvq:2,budget=2100KiB,widths=same,shift=modified | 128",
        "pmkvq:2,budget=1050KiB,widths=same,keys=token,smoothing=off | 64",
        "pmkvq:2,budget=2100KiB,widths=same,keys=token,shrink=layer,born=wide | 128",
        "pmkvq:2,budget=1050KiB,widths=same,keys=token,born=wide,shift=modified | 64",
        "pmkvq:2,budget=1350KiB,widths=profile | 64",
        "pmkvq:2,budget=2700KiB,widths=profile,keys=token,shrink=layer,born=wide,sinks=16 | 128"
      })
  void requantizedPagesAndAttentionMatchTheHost(String spec, int headDim) {
    try (CachePair pair = new CachePair(spec, new AttentionShape(8, KV_HEADS, headDim))) {
      while (pair.ours.stepCapacity(100) == 100 && pair.ours.length() < 3000) {
        assertThat(pair.host.stepCapacity(100)).isEqualTo(100);
        pair.append(100);
        if (pair.ours.length() % 300 == 0) {
          pair.check();
        }
      }
      assertThat(pair.host.stepCapacity(100)).isEqualTo(pair.ours.stepCapacity(100));
      pair.check();
      assertThat(pair.widthsSeen).contains(16, 8, 4);
      try (CachePair fork = new CachePair(pair)) {
        int cut = pair.sinks + 5 * BLOCK;
        fork.ours.truncate(cut);
        fork.host.truncate(cut);
        fork.check();
        pair.check();
      }
    }
  }
}
