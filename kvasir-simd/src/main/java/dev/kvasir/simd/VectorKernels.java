package dev.kvasir.simd;

import dev.kvasir.kernel.CodebookKernels;
import dev.kvasir.kernel.CodedKernels;
import dev.kvasir.kernel.DotKernels;
import dev.kvasir.kernel.Family;
import dev.kvasir.kernel.FloatKernels;
import dev.kvasir.kernel.HalfKernels;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.PatternKernels;
import dev.kvasir.kernel.RowCodeKernels;
import dev.kvasir.kernel.RowKernels;
import dev.kvasir.kernel.ScalarKernels;

/** The arithmetic on the Vector API. */
final class VectorKernels implements Kernels {
  private static final ScalarKernels SCALAR = new ScalarKernels();

  private final CodedKernels bytes;
  private final CodedKernels nibbles;
  private final FloatKernels floats = new VectorFloats();
  private final RowKernels rows = new VectorRows();
  private final HalfKernels halves = new VectorHalves(SCALAR.halves());
  private final DotKernels dots = new VectorDots(halves, rows);
  private final PatternKernels patterns = new VectorPatterns();
  private final CodebookKernels codebooks = new VectorCodebooks();
  private final RowCodeKernels rowCodes = new VectorRowCodes(floats);

  VectorKernels() {
    this(VectorWidth.bits() >= 256);
  }

  /** Lanes wider than the machine's are right too, and slow: tests hold both widths together. */
  VectorKernels(boolean wideLanes) {
    bytes = new VectorCoded(wideLanes, 8, SCALAR.coded(8));
    nibbles = new VectorCoded(wideLanes, 4, SCALAR.coded(4));
  }

  @Override
  public String name() {
    return "Vector API, %d bits".formatted(VectorWidth.bits());
  }

  @Override
  public String serving(Family family) {
    return "vectors";
  }

  @Override
  public CodedKernels coded(int codeBits) {
    return codeBits == 8 ? bytes : nibbles;
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
