package dev.kvasir.codec.patternkv;

import dev.kvasir.kernel.RopeAngles;
import dev.kvasir.kernel.RopeTable;
import dev.kvasir.kernel.Rotation;

/**
 * The rotation of patterns within a page, and the inverse rotation of queries by the page's
 * position.
 *
 * @param inverseAngles shared by the pages of all layers at that position
 */
record PageRotation(RopeTable table, RopeAngles inverseAngles) {
  static PageRotation of(Rotation rotation, int keyDim, int position) {
    RopeTable table = rotation.table(keyDim);
    return new PageRotation(table, table.angles(rotation, -position));
  }
}
