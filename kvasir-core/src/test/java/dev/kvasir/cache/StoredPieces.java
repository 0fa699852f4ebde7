package dev.kvasir.cache;

import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/** A stored cache that is independent of the one it came from; equal where all bytes are. */
record StoredPieces(int length, List<Integer> ends, List<String> hexBlocks, String hexRest)
    implements CacheForm {
  static StoredPieces of(CacheForm form) {
    List<Integer> ends = new ArrayList<>();
    List<String> blocks = new ArrayList<>();
    for (int i = 0; i < form.blocks(); i++) {
      ends.add(form.end(i));
      blocks.add(HexFormat.of().formatHex(form.block(i)));
    }
    return new StoredPieces(form.length(), ends, blocks, HexFormat.of().formatHex(form.rest()));
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
  public byte[] rest() {
    return HexFormat.of().parseHex(hexRest);
  }
}
