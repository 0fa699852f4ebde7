package dev.kvasir.codec.commvq;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageRoom;
import dev.kvasir.kernel.DenseMatrix;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.PositionTurn;
import dev.kvasir.kernel.RotaryCodes;
import dev.kvasir.kernel.TurnTable;

/** A worker's room for what becomes of a page's codes; a prompt decodes many pages of a head. */
final class DecodingRoom {
  final float[] scales = new float[Page.TOKENS];
  byte[] indices = {}; // (sets, TOKENS)
  short[] sums = {}; // (TOKENS, width)
  float[] vectors = {}; // (TOKENS, width)
  final RotaryCodes codes = new RotaryCodes();
  private float[] floats = {};
  private DenseMatrix expanded; // what floats hold; null until there is any
  private PositionTurn turn; // null until there is a table

  private DecodingRoom() {}

  static DecodingRoom of(PageRoom worker, int sets, int width) {
    DecodingRoom room = worker.of(DecodingRoom.class, DecodingRoom::new);
    if (room.indices.length < sets * Page.TOKENS) {
      room.indices = new byte[sets * Page.TOKENS];
    }
    if (room.vectors.length < Page.TOKENS * width) {
      room.sums = new short[Page.TOKENS * width];
      room.vectors = new float[Page.TOKENS * width];
    }
    return room;
  }

  PositionTurn turn(TurnTable table) {
    if (turn == null || turn.table() != table) {
      turn = new PositionTurn(table);
    }
    return turn;
  }

  /** A matrix as floats, kept for the next page of the same head. */
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
