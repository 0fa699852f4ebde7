package dev.kvasir.codec.mead;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageWorkspace;
import dev.kvasir.kernel.RopeRotation;
import dev.kvasir.kernel.RopeTable;
import dev.kvasir.kernel.RowBlock;
import dev.kvasir.kernel.RowCodeBlock;
import dev.kvasir.kernel.RowCodeKernels;
import dev.kvasir.kernel.RowCodeLayout;
import java.lang.foreign.MemorySegment;

/** A worker's room for what becomes of a page on the way. */
final class MeadWorkspace {
  final byte[] order = new byte[Page.TOKENS]; // tokens by rows of codes
  final int[] tableRows = new int[Page.TOKENS]; // rows of the table, by rows of codes or by token
  final int[] ids = new int[Page.TOKENS];
  float[] vectors = {}; // (TOKENS, width), and what kernels need beside
  float[] means = {}; // (valueWidth)
  float[] lows = {}; // (valueWidth) of table rows, with the means
  float[] exact = {}; // (keyDim or valueDim)
  final RowCodeBlock codes = new RowCodeBlock();
  final RowBlock inputRows = new RowBlock();
  final RowBlock vectorRows = new RowBlock();
  final RowBlock outputRows = new RowBlock();
  private MemorySegment rows = MemorySegment.NULL; // of values, one after another
  private RopeRotation rotation; // null until there is a table
  private MeadPage boundPage; // whose order and picks are here, null until there are any
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
   * Whether order and picks of a page's head are here already: values are read after keys. From now
   * on they are.
   */
  boolean bind(MeadPage page, int kvHead) {
    boolean wasBound = boundPage == page && boundHead == kvHead;
    boundPage = page;
    boundHead = kvHead;
    return wasBound;
  }

  /** Room for the rows of a head's values. */
  MemorySegment rows(HeadCodeLayout codes) {
    long bytes = codes.values().bytes() + RowCodeLayout.OVERREAD_BYTES;
    if (rows.byteSize() < bytes) {
      rows = MemorySegment.ofArray(new byte[(int) bytes]);
    }
    return rows;
  }

  /** Picks are overwritten. */
  void unbind() {
    boundPage = null;
  }

  RopeRotation rotation(RopeTable table) {
    if (rotation == null || rotation.table() != table) {
      rotation = new RopeRotation(table);
    }
    return rotation;
  }
}
