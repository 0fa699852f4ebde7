package dev.kvasir.kernel;

/**
 * The arithmetic in plain Java: what runs without the Vector API, and what defines the results, to
 * the last bit. Floating-point sums depend on their order, so the order is part of the definition:
 * {@link PartialSums}.
 */
public final class ScalarKernels implements Kernels {
  private final CodedKernels coded = new ScalarCoded();
  private final FloatKernels floats;
  private final RowKernels rows;
  private final HalfKernels halves;
  private final DotKernels dots;
  private final PatternKernels patterns;
  private final CodebookKernels codebooks;
  private final RowCodeKernels rowCodes;

  public ScalarKernels() {
    this(PartialSums.LEAST_LANES);
  }

  /**
   * @param lanes partial sums of a long sum, a power of two: those of the vectors to agree with
   */
  public ScalarKernels(int lanes) {
    PartialSums sums = new PartialSums(lanes);
    floats = new ScalarFloats(sums);
    rows = new ScalarRows(sums);
    halves = new ScalarHalves(sums);
    dots = new ScalarDots();
    patterns = new ScalarPatterns(sums);
    codebooks = new ScalarCodebooks(sums);
    rowCodes = new ScalarRowCodes(floats);
  }

  @Override
  public String name() {
    return "scalar Java";
  }

  @Override
  public String serving(Family family) {
    return "plain Java";
  }

  @Override
  public CodedKernels coded(int codeBits) {
    return coded;
  }

  @Override
  public FloatKernels floats() {
    return floats;
  }

  @Override
  public RowKernels rows() {
    return rows;
  }

  @Override
  public HalfKernels halves() {
    return halves;
  }

  @Override
  public DotKernels dots() {
    return dots;
  }

  @Override
  public PatternKernels patterns() {
    return patterns;
  }

  @Override
  public CodebookKernels codebooks() {
    return codebooks;
  }

  @Override
  public RowCodeKernels rowCodes() {
    return rowCodes;
  }
}
