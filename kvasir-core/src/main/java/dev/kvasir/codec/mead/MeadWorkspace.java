package dev.kvasir.codec.mead;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageWorkspace;
import dev.kvasir.kernel.CachedRotation;
import dev.kvasir.kernel.RopeTable;
import dev.kvasir.kernel.RowBlock;
import dev.kvasir.kernel.RowCodeBlock;
import dev.kvasir.kernel.RowCodeKernels;
import dev.kvasir.kernel.RowCodeLayout;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/** Workspace of one worker for reading Mead pages. */
final class MeadWorkspace {
  /** Tables of layers of a model differ if some see a window alone. */
  private static final int MAX_ROTATIONS = 4;

  final byte[] order = new byte[Page.TOKENS]; // token of each code row
  final int[] tableRows = new int[Page.TOKENS]; // table row of each code row, or of each token
  final int[] ids = new int[Page.TOKENS];
  float[] vectors = {}; // (TOKENS, width), and the scratch of kernels
  float[] means = {}; // (valueWidth)
  float[] lows = {}; // (valueWidth) of table rows, plus the means
  float[] exact = {}; // (keyDim or valueDim)
  final RowCodeBlock codes = new RowCodeBlock();
  final RowBlock inputRows = new RowBlock();
  final RowBlock vectorRows = new RowBlock();
  final RowBlock outputRows = new RowBlock();
  private MemorySegment rows = MemorySegment.NULL; // value codes, row-major
  private final List<CachedRotation> rotations = new ArrayList<>(); // one for each table
  private MeadPage boundPage; // page of order and tableRows, null for none
  private int boundHead;

  private MeadWorkspace() {}

  static MeadWorkspace of(PageWorkspace workspace, MeadSizes sizes) {
    MeadWorkspace meadWorkspace = workspace.scratch(MeadWorkspace.class, MeadWorkspace::new);
    int most = Math.max(sizes.keyWidth(), sizes.valueWidth());
    if (meadWorkspace.vectors.length < RowCodeKernels.scratchFloats(Page.TOKENS, most)) {
      meadWorkspace.vectors = new float[RowCodeKernels.scratchFloats(Page.TOKENS, most)];
      meadWorkspace.means = new float[most];
      meadWorkspace.lows = new float[most];
      meadWorkspace.exact = new float[most];
    }
    return meadWorkspace;
  }

  /**
   * Binds order and table rows to a page's head. Values are read after keys, so both are often in
   * place.
   *
   * @return whether they were bound to that head before
   */
  boolean bind(MeadPage page, int kvHead) {
    boolean wasBound = boundPage == page && boundHead == kvHead;
    boundPage = page;
    boundHead = kvHead;
    return wasBound;
  }

  /** Returns scratch memory for the rows of a head's values. */
  MemorySegment rows(HeadCodeLayout codes) {
    long bytes = codes.values().bytes() + RowCodeLayout.OVERREAD_BYTES;
    if (rows.byteSize() < bytes) {
      rows = MemorySegment.ofArray(new byte[(int) bytes]);
    }
    return rows;
  }

  /** Marks the table rows as overwritten. */
  void unbind() {
    boundPage = null;
  }

  /** Returns the rotation of a table, which remembers the angles of pages. */
  CachedRotation rotation(RopeTable table) {
    for (int i = 0; i < rotations.size(); i++) {
      if (rotations.get(i).table() == table) {
        return rotations.get(i);
      }
    }
    if (rotations.size() == MAX_ROTATIONS) {
      rotations.clear();
    }
    rotations.add(new CachedRotation(table));
    return rotations.getLast();
  }
}
