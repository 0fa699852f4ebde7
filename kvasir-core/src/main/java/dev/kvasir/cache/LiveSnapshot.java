package dev.kvasir.cache;

import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.ColdBlocks;
import dev.kvasir.codec.StatelessCodec;
import java.nio.ByteBuffer;
import java.util.Optional;

/** A snapshot of the current contents of a cache, serialized on demand. */
final class LiveSnapshot implements CacheSnapshot {
  private final CacheConfig config;
  private final BlockBoundaries boundaries;
  private final BlockTable blockTable;
  private final int length;
  private final int blocks;
  private final byte[] state;

  /**
   * @param blocks whole blocks after the sinks
   * @param state the method's state; empty if nothing is quantized
   */
  LiveSnapshot(CacheConfig config, BlockTable blockTable, int length, int blocks, byte[] state) {
    this.config = config;
    this.boundaries = new BlockBoundaries(config.sinks());
    this.blockTable = blockTable;
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
    return boundaries.firstPosition(boundaries.sinkBlocks() + index + 1);
  }

  @Override
  public byte[] block(int index) {
    int block = boundaries.sinkBlocks() + index;
    Optional<ColdBlocks> cold =
        config.coldBlocks().filter(pages -> pages.includes(end(index), length));
    return new BlockSerializer(
            blockTable, block, boundaries.firstPosition(block), config.precision(), cold)
        .bytes();
  }

  @Override
  public boolean hasImmutableBlocks() {
    return blockTable.groups().retainAll()
        && config.coldBlocks().isEmpty()
        && config.codec().map(codec -> codec instanceof StatelessCodec).orElse(true);
  }

  @Override
  public byte[] residual() {
    ResidualBlocks residual = new ResidualBlocks(blockTable.groups(), config, length, blocks);
    boolean all = blockTable.groups().retainAll();
    return ResidualSnapshot.write(
        all ? ResidualSnapshot.WHOLE : ResidualSnapshot.BY_LAYER,
        config,
        length,
        blocks,
        state,
        all ? new Whole(residual) : new ByLayer(residual));
  }

  private final class Whole implements ResidualSnapshot.ResidualBody {
    private final ResidualBlocks residual;

    Whole(ResidualBlocks residual) {
      this.residual = residual;
    }

    @Override
    public long bytes() {
      return residual.bytes(residual.allRetained());
    }

    @Override
    public void write(ByteBuffer out) {
      for (int i = 0; i < residual.count(); i++) {
        BlockSerializer.writeNumbers(blockTable, residual.block(i), residual.tokens(i), out);
      }
    }
  }

  private final class ByLayer implements ResidualSnapshot.ResidualBody {
    private final ResidualBlocks residual;
    private final byte[][] there; // by block and layer

    ByLayer(ResidualBlocks residual) {
      this.residual = residual;
      this.there = residual.retained(blockTable);
    }

    @Override
    public long bytes() {
      return (long) residual.count() * blockTable.groups().shape().layers() + residual.bytes(there);
    }

    @Override
    public void write(ByteBuffer out) {
      for (byte[] ofBlock : there) {
        out.put(ofBlock);
      }
      for (int i = 0; i < there.length; i++) {
        for (int layer = 0; layer < there[i].length; layer++) {
          if (blockTable.get(layer, residual.block(i)) instanceof DenseBlock dense) {
            dense.writeKeys(layer, residual.tokens(i), out);
            dense.writeValues(layer, residual.tokens(i), out);
          }
        }
      }
    }
  }
}
