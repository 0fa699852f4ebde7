package dev.kvasir.codec.mead;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageRoom;
import dev.kvasir.kernel.PositionTurn;
import dev.kvasir.kernel.RowBlock;
import dev.kvasir.kernel.RowCodeBlock;
import dev.kvasir.kernel.RowCodeKernels;
import dev.kvasir.kernel.RowCodes;
import dev.kvasir.kernel.TurnTable;
import java.lang.foreign.MemorySegment;

/** A worker's room for what becomes of a page on the way. */
final class MeadRoom {
  final byte[] order = new byte[Page.TOKENS]; // tokens by rows of codes
  final int[] picks = new int[Page.TOKENS]; // rows of the table, by rows of codes or by token
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
  private PositionTurn turn; // null until there is a table
  private MeadPage ordered; // whose order and picks are here, null until there are any
  private int orderedHead;

  private MeadRoom() {}

  static MeadRoom of(PageRoom worker, MeadSizes sizes) {
    MeadRoom room = worker.of(MeadRoom.class, MeadRoom::new);
    int most = Math.max(sizes.keyWidth(), sizes.valueWidth());
    if (room.vectors.length < RowCodeKernels.room(Page.TOKENS, most)) {
      room.vectors = new float[RowCodeKernels.room(Page.TOKENS, most)];
      room.means = new float[most];
      room.lows = new float[most];
      room.exact = new float[most];
    }
    return room;
  }

  /**
   * Whether order and picks of a page's head are here already: values are read after keys. From now
   * on they are.
   */
  boolean has(MeadPage page, int kvHead) {
    boolean has = ordered == page && orderedHead == kvHead;
    ordered = page;
    orderedHead = kvHead;
    return has;
  }

  /** Room for the rows of a head's values. */
  MemorySegment rows(HeadCodes codes) {
    long bytes = codes.values().bytes() + RowCodes.BYTES_BEHIND;
    if (rows.byteSize() < bytes) {
      rows = MemorySegment.ofArray(new byte[(int) bytes]);
    }
    return rows;
  }

  /** Picks are overwritten. */
  void forget() {
    ordered = null;
  }

  PositionTurn turn(TurnTable table) {
    if (turn == null || turn.table() != table) {
      turn = new PositionTurn(table);
    }
    return turn;
  }
}
