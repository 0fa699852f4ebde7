package dev.kvasir.cache;

import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/** A snapshot that is independent of its cache; equal if all bytes are. */
record SnapshotBytes(int length, List<Integer> ends, List<String> hexBlocks, String hexResidual)
    implements CacheSnapshot {
  static SnapshotBytes of(CacheSnapshot snapshot) {
    List<Integer> ends = new ArrayList<>();
    List<String> blocks = new ArrayList<>();
    for (int i = 0; i < snapshot.blocks(); i++) {
      ends.add(snapshot.end(i));
      blocks.add(HexFormat.of().formatHex(snapshot.block(i)));
    }
    return new SnapshotBytes(
        snapshot.length(), ends, blocks, HexFormat.of().formatHex(snapshot.residual()));
  }

  @Override
  public int blocks() {
    return hexBlocks.size();
  }

  @Override
  public int end(int index) {
    return ends.get(index);
  }

  @Override
  public byte[] block(int index) {
    return HexFormat.of().parseHex(hexBlocks.get(index));
  }

  @Override
  public byte[] residual() {
    return HexFormat.of().parseHex(hexResidual);
  }
}
