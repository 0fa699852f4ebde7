package dev.kvasir.codec.commvq;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageWorkspace;
import dev.kvasir.kernel.DenseMatrix;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.RopeRotation;
import dev.kvasir.kernel.RopeTable;
import dev.kvasir.kernel.RotaryCodes;

/** A worker's buffers for decoding pages, reused because a prompt decodes many pages of a head. */
final class DecodeScratch {
  final float[] scales = new float[Page.TOKENS];
  byte[] indices = {}; // (sets, TOKENS)
  short[] sums = {}; // (TOKENS, width)
  float[] vectors = {}; // (TOKENS, width)
  final RotaryCodes codes = new RotaryCodes();
  private float[] floats = {};
  private DenseMatrix expanded; // the matrix in floats; null if none
  private RopeRotation ropeRotation; // null until there is a table

  private DecodeScratch() {}

  static DecodeScratch of(PageWorkspace workspace, int sets, int width) {
    DecodeScratch scratch = workspace.scratch(DecodeScratch.class, DecodeScratch::new);
    if (scratch.indices.length < sets * Page.TOKENS) {
      scratch.indices = new byte[sets * Page.TOKENS];
    }
    if (scratch.vectors.length < Page.TOKENS * width) {
      scratch.sums = new short[Page.TOKENS * width];
      scratch.vectors = new float[Page.TOKENS * width];
    }
    return scratch;
  }

  RopeRotation ropeRotation(RopeTable table) {
    if (ropeRotation == null || ropeRotation.table() != table) {
      ropeRotation = new RopeRotation(table);
    }
    return ropeRotation;
  }

  /** Returns a matrix as floats, cached for the next page of the same head. */
  float[] floats(Kernels kernels, DenseMatrix matrix) {
    int count = matrix.rows() * matrix.columns();
    if (expanded != matrix) {
      expanded = null;
      if (floats.length < count) {
        floats = new float[count];
      }
      kernels.halves().expand(matrix.data(), 0, floats, 0, count);
      expanded = matrix;
    }
    return floats;
  }
}
