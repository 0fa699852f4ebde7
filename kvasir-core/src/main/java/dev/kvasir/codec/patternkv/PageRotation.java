package dev.kvasir.codec.patternkv;

import dev.kvasir.kernel.RopeAngles;
import dev.kvasir.kernel.RopeTable;
import dev.kvasir.kernel.Rotation;

/**
 * How patterns turn within a page, and how queries are turned back to where it begins.
 *
 * @param back shared by the pages of all layers that begin there
 */
record PageRotation(RopeTable table, RopeAngles inverseAngles) {
  static PageRotation of(Rotation rotation, int keyDim, int position) {
    RopeTable table = rotation.table(keyDim);
    return new PageRotation(table, table.angles(rotation, -position));
  }
}
