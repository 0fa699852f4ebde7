package dev.kvasir.cache;

import dev.kvasir.codec.CacheSettings;
import dev.kvasir.codec.OldPages;
import dev.kvasir.codec.StatelessCodec;
import java.nio.ByteBuffer;
import java.util.Optional;

/** What a cache holds at the moment, made into bytes when it is asked for. */
final class HeldForm implements CacheForm {
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
  HeldForm(CacheSettings settings, HostBlocks held, int length, int blocks, byte[] state) {
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
    Optional<OldPages> old = settings.oldPages().filter(pages -> pages.include(end(index), length));
    return new BlockForm(held, block, places.firstPosition(block), settings.precision(), old)
        .bytes();
  }

  @Override
  public boolean hasLastingBlocks() {
    return held.groups().holdAll()
        && settings.oldPages().isEmpty()
        && settings.codec().map(codec -> codec instanceof StatelessCodec).orElse(true);
  }

  @Override
  public byte[] rest() {
    RestBlocks rest = new RestBlocks(held.groups(), settings, length, blocks);
    boolean all = held.groups().holdAll();
    return RestForm.write(
        all ? RestForm.WHOLE : RestForm.BY_LAYER,
        settings,
        length,
        blocks,
        state,
        all ? new Whole(rest) : new ByLayer(rest));
  }

  private final class Whole implements RestForm.Rest {
    private final RestBlocks rest;

    Whole(RestBlocks rest) {
      this.rest = rest;
    }

    @Override
    public long bytes() {
      return rest.bytes(rest.allHeld());
    }

    @Override
    public void write(ByteBuffer out) {
      for (int i = 0; i < rest.count(); i++) {
        BlockForm.writeNumbers(held, rest.block(i), rest.tokens(i), out);
      }
    }
  }

  private final class ByLayer implements RestForm.Rest {
    private final RestBlocks rest;
    private final byte[][] there; // by block and layer

    ByLayer(RestBlocks rest) {
      this.rest = rest;
      this.there = rest.held(held);
    }

    @Override
    public long bytes() {
      return (long) rest.count() * held.groups().shape().layers() + rest.bytes(there);
    }

    @Override
    public void write(ByteBuffer out) {
      for (byte[] ofBlock : there) {
        out.put(ofBlock);
      }
      for (int i = 0; i < there.length; i++) {
        for (int layer = 0; layer < there[i].length; layer++) {
          if (held.get(layer, rest.block(i)) instanceof DenseBlock dense) {
            dense.writeKeys(layer, rest.tokens(i), out);
            dense.writeValues(layer, rest.tokens(i), out);
          }
        }
      }
    }
  }
}
