package dev.kvasir.cache;

import dev.kvasir.codec.CacheSettings;
import dev.kvasir.codec.CacheShape;
import java.nio.ByteBuffer;

/** What a cache holds at the moment, made into bytes when it is asked for. */
final class HeldForm implements CacheForm {
  private final CacheShape shape;
  private final CacheSettings settings;
  private final BlockPlaces places;
  private final HostBlocks held;
  private final int length;
  private final int blocks;
  private final byte[] state;

  /**
   * @param blocks whole blocks behind the sinks
   * @param state what the method keeps; empty where nothing is packed
   */
  HeldForm(
      CacheShape shape,
      CacheSettings settings,
      HostBlocks held,
      int length,
      int blocks,
      byte[] state) {
    this.shape = shape;
    this.settings = settings;
    this.places = new BlockPlaces(settings.sinks());
    this.held = held;
    this.length = length;
    this.blocks = blocks;
    this.state = state;
  }

  @Override
  public int length() {
    return length;
  }

  @Override
  public int blocks() {
    return blocks;
  }

  @Override
  public int end(int index) {
    return places.firstPosition(places.sinkBlocks() + index + 1);
  }

  @Override
  public byte[] block(int index) {
    int block = places.sinkBlocks() + index;
    int position = places.firstPosition(block);
    return BlockForm.of(held.get(block), position, shape, settings.precision());
  }

  @Override
  public byte[] rest() {
    return RestForm.write(shape, settings, length, blocks, state, this::writeNumbers);
  }

  private void writeNumbers(ByteBuffer out) {
    int first = places.sinkBlocks();
    for (int block = 0; places.firstPosition(block) < length; block++) {
      if (block < first || block >= first + blocks) {
        ((DenseBlock) held.get(block)).write(places.tokens(block, length), out);
      }
    }
  }
}
