package dev.kvasir.methods.ott;

/**
 * Byte layout of a page's outlier tokens.
 *
 * <pre>
 * indices (kvHeads, outliers) u8, in rising order
 * keys    (kvHeads, outliers, keyDim) f16
 * values  (kvHeads, outliers, valueDim) f16
 *
 * bytes = kvHeads * outliers * (1 + 2 * (keyDim + valueDim))
 * </pre>
 *
 * @param outliers outlier tokens of a head
 * @param group tokens of a channel that share a scale
 */
record OutlierTokenLayout(int kvHeads, int outliers, int keyDim, int valueDim, int group) {
  long bytes() {
    return valuesOffset(kvHeads);
  }

  long indicesOffset(int kvHead) {
    return (long) kvHead * outliers;
  }

  long keysOffset(int kvHead) {
    return indicesOffset(kvHeads) + 2L * kvHead * outliers * keyDim;
  }

  long valuesOffset(int kvHead) {
    return keysOffset(kvHeads) + 2L * kvHead * outliers * valueDim;
  }
}
