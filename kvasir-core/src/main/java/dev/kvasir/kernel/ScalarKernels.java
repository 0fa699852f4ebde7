package dev.kvasir.kernel;

/**
 * The kernels in plain Java. They define results to the last bit and run where no other kernels
 * can. Floating-point sums depend on their order, so {@link PartialSums} is part of the definition.
 */
public final class ScalarKernels implements Kernels {
  private final GemmKernels gemm = new ScalarGemm();
  private final FloatKernels floats = new ScalarFloats();
  private final RowKernels rows = new ScalarRows();
  private final HalfKernels halves = new ScalarHalves();
  private final DotKernels dots = new ScalarDots();
  private final PatternKernels patterns = new ScalarPatterns();
  private final CodebookKernels codebooks = new ScalarCodebooks();
  private final RowCodeKernels rowCodes = new ScalarRowCodes();
  private final RecurrenceKernels recurrences = new ScalarRecurrences();

  @Override
  public String name() {
    return "Java";
  }

  @Override
  public GemmKernels gemm() {
    return gemm;
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

  @Override
  public RecurrenceKernels recurrences() {
    return recurrences;
  }
}
