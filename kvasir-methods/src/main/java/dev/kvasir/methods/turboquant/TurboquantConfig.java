package dev.kvasir.methods.turboquant;

import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.OperandPrecision;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.QuantizationConfig;
import dev.kvasir.codec.SpecText;
import dev.kvasir.codec.basis.BasisCodec;
import dev.kvasir.codec.basis.Clipping;
import dev.kvasir.codec.basis.Hadamard;
import dev.kvasir.codec.basis.LayerBasis;
import dev.kvasir.codec.uniform.UniformOptions;
import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.page.HeadShape;
import dev.kvasir.page.LloydMaxCodes;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Configuration of TurboQuant: norms and directions of randomly rotated vectors.
 *
 * @param method the method's name as typed
 * @param seed seed of the random signs
 */
record TurboquantConfig(String method, int keyBits, int valueBits, int window, int sinks, int seed)
    implements QuantizationConfig {
  private static final SortedSet<Integer> BITS = new TreeSet<>(Set.of(1, 2, 3, 4));
  private static final int DEFAULT_WINDOW = 128;
  private static final int DEFAULT_SEED = 1;
  private static final int MAX_SEED = 1 << 20;

  static TurboquantConfig of(SpecText spec) {
    spec.requireKeys("k", "v", "window", "sinks", "seed");
    boolean both = spec.has("k") && spec.has("v");
    int bits = both && !spec.hasBits() ? 0 : spec.bits(BITS);
    return new TurboquantConfig(
        spec.name(),
        spec.oneOf("k", bits, BITS),
        spec.oneOf("v", bits, BITS),
        spec.tokens("window", DEFAULT_WINDOW),
        spec.tokens("sinks", 0),
        spec.between("seed", DEFAULT_SEED, 0, MAX_SEED));
  }

  @Override
  public CacheConfig cacheConfig(CacheShape shape) {
    UniformOptions.requireSupported(method, shape);
    HeadShape head =
        new HeadShape(
            List.of(new LloydMaxCodes(shape.keyDim(), Page.TOKENS, keyBits, true)),
            false,
            new LloydMaxCodes(Page.TOKENS, shape.valueDim(), valueBits, false));
    BasisCodec codec =
        new BasisCodec(
            shape.kvHeads(),
            head,
            OperandPrecision.EXACT,
            List.of(
                new LayerBasis(
                    Hadamard.signed(shape.keyDim(), seed),
                    Hadamard.signed(shape.valueDim(), seed),
                    new Clipping(1))),
            shape.keyDim());
    return new CacheConfig(Precision.F16, sinks, window, Optional.of(codec));
  }
}
