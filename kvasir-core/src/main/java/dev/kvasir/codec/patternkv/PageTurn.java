package dev.kvasir.codec.patternkv;

import dev.kvasir.kernel.Angles;
import dev.kvasir.kernel.Rotation;
import dev.kvasir.kernel.TurnTable;

/**
 * How patterns turn within a page, and how queries are turned back to where it begins.
 *
 * @param back shared by the pages of all layers that begin there
 */
record PageTurn(TurnTable table, Angles back) {
  static PageTurn of(Rotation rotation, int keyDim, int position) {
    TurnTable table = rotation.table(keyDim);
    return new PageTurn(table, table.angles(rotation, -position));
  }
}
