package dev.kvasir.cache;

import dev.kvasir.codec.CacheSettings;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.Envelope;
import dev.kvasir.codec.Form;
import dev.kvasir.codec.OldPages;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.codec.ShrinkingSequence;
import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.memory.SharedArena;
import dev.kvasir.memory.SharedMapping;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Makes blocks of what {@link BlockForm} wrote, group by group of a cache's layers. A cache whose
 * layers hold windows alone reads forms in which all of them hold everything as well.
 */
final class BlockReading {
  private final LayerGroups groups;
  private final Precision precision;
  private final MemoryPool pool;
  private final SequenceCodec codec; // null where nothing is packed
  private final Optional<OldPages> oldPages;
  private final Optional<SharedMapping> mapping;

  /**
   * @param mapping that forms lie in and blocks may stay in; empty where they are copied
   */
  BlockReading(
      LayerGroups groups,
      CacheSettings settings,
      MemoryPool pool,
      SequenceCodec codec,
      Optional<SharedMapping> mapping) {
    this.groups = groups;
    this.precision = settings.precision();
    this.pool = pool;
    this.codec = codec;
    this.oldPages = settings.oldPages();
    this.mapping = mapping;
  }

  /**
   * A whole block.
   *
   * @param blocks by group, filled; those that are there when it fails are whole
   */
  void read(Form form, int position, Block[] blocks) {
    int kind = expectedKind(form);
    Envelope.BLOCK.open(
        form,
        kind,
        in -> {
          requirePosition(in, position);
          switch (kind) {
            case BlockForm.PACKED -> readPages(readForms(in), codec, blocks);
            case BlockForm.OLD -> readPages(readForms(in), oldPages.get().codec(), blocks);
            case BlockForm.DENSE -> readDense(in, blocks);
            default -> readLayers(in, blocks);
          }
          return blocks;
        });
  }

  /** The kind of a form, if this cache has blocks of it, or else that of its packed ones. */
  private int expectedKind(Form form) {
    int everywhere = codec == null ? BlockForm.DENSE : BlockForm.PACKED;
    int kind = groups.holdAll() && oldPages.isEmpty() ? everywhere : Envelope.BLOCK.kindOf(form);
    return switch (kind) {
      case BlockForm.BY_LAYER -> groups.holdAll() ? everywhere : kind;
      case BlockForm.OLD -> oldPages.isPresent() ? kind : everywhere;
      default -> everywhere;
    };
  }

  private static void requirePosition(ByteBuffer in, int position) {
    int found = Envelope.BLOCK.position(in);
    if (found != position) {
      throw Envelope.BLOCK.refused(
          "begins at position %d; in its place %d was expected".formatted(found, position));
    }
  }

  private List<Form> readForms(ByteBuffer in) {
    requireLayers(in);
    return forms(in);
  }

  private void requireLayers(ByteBuffer in) {
    int found = Short.toUnsignedInt(in.getShort());
    if (found != groups.shape().layers()) {
      throw Envelope.BLOCK.refused(
          "has %d layers; this cache has %d".formatted(found, groups.shape().layers()));
    }
  }

  private List<Form> forms(ByteBuffer in) {
    int[] sizes = new int[groups.shape().layers()];
    long bytes = 0;
    for (int layer = 0; layer < sizes.length; layer++) {
      sizes[layer] = in.getInt();
      bytes += Integer.toUnsignedLong(sizes[layer]);
    }
    Envelope.BLOCK.requireRest(in, bytes);
    List<Form> forms = new ArrayList<>();
    for (int size : sizes) {
      forms.add(Form.within(in, size));
    }
    return forms;
  }

  private void readPages(List<Form> forms, SequenceCodec by, Block[] blocks) {
    for (int i = 0; i < blocks.length; i++) {
      blocks[i] = sealed(groups.get(i), forms, by);
    }
  }

  /**
   * The pages of a group in memory of the pool.
   *
   * @param by the sequence's codec, or that of old pages
   */
  private SealedBlock sealed(LayerGroup group, List<Form> forms, SequenceCodec by) {
    List<Page> pages = new ArrayList<>();
    SharedArena memory = newMemory();
    try {
      for (int place = 0; place < group.count(); place++) {
        int layer = group.layer(place);
        pages.add(by.read(memory, layer, forms.get(layer)));
        memory = by instanceof ShrinkingSequence ? memory.next() : memory;
      }
      return new SealedBlock(group, pages, by != codec);
    } catch (RuntimeException | Error e) {
      pages.forEach(Page::close);
      throw e;
    } finally {
      memory.release();
    }
  }

  private SharedArena newMemory() {
    return mapping
        .map(lender -> new SharedArena(pool, lender))
        .orElseGet(() -> new SharedArena(pool));
  }

  /** Where one group has all layers, numbers lie in a form as they lie in memory. */
  private void readDense(ByteBuffer in, Block[] blocks) {
    RestForm.requirePrecision(Envelope.BLOCK, in, precision);
    Envelope.BLOCK.requireRest(in, bytes(groups.shape(), Page.TOKENS));
    if (mapping.isPresent() && blocks.length == 1) {
      MemorySegment numbers = MemorySegment.ofBuffer(in);
      blocks[0] = DenseBlock.lent(groups.get(0), precision, pool, mapping.get(), numbers);
    } else {
      readNumbers(in, Page.TOKENS, Page.TOKENS, blocks);
    }
  }

  private long bytes(CacheShape shape, int tokens) {
    return DenseBlock.bytesFor(shape, tokens, precision);
  }

  /**
   * A block as it came, of which all layers are there: keys, then values.
   *
   * @param capacity tokens that it can hold
   * @param tokens that are there
   */
  void readNumbers(ByteBuffer in, int capacity, int tokens, Block[] blocks) {
    for (int i = 0; i < blocks.length; i++) {
      blocks[i] = newDense(groups.get(i), capacity);
    }
    for (int layer = 0; layer < groups.shape().layers(); layer++) {
      ((DenseBlock) blocks[groups.of(layer)]).readKeys(layer, tokens, in);
    }
    for (int layer = 0; layer < groups.shape().layers(); layer++) {
      ((DenseBlock) blocks[groups.of(layer)]).readValues(layer, tokens, in);
    }
  }

  private DenseBlock newDense(LayerGroup group, int capacity) {
    pool.take(bytes(group.shape(), capacity));
    return new DenseBlock(group, capacity, precision, pool);
  }

  private void readLayers(ByteBuffer in, Block[] blocks) {
    RestForm.requirePrecision(Envelope.BLOCK, in, precision);
    requireLayers(in);
    byte[] kinds = new byte[groups.shape().layers()];
    in.get(kinds);
    List<Form> forms = forms(in);
    for (int i = 0; i < blocks.length; i++) {
      blocks[i] = block(groups.get(i), kinds, forms);
    }
  }

  private Block block(LayerGroup group, byte[] kinds, List<Form> forms) {
    int kind = kind(Envelope.BLOCK, group, kinds);
    if (kind == BlockForm.GONE) {
      requireNothing(group, forms);
      return null;
    }
    if (kind == BlockForm.PAGE && codec != null) {
      return sealed(group, forms, codec);
    }
    if (kind == BlockForm.OLD_PAGE && oldPages.isPresent()) {
      return sealed(group, forms, oldPages.get().codec());
    }
    if (kind == BlockForm.NUMBERS && (codec == null || !group.packs())) {
      return numbers(group, forms);
    }
    throw Envelope.BLOCK.refused(
        "has layer %d as kind %d, which this cache does not keep it as"
            .formatted(group.layer(0), kind));
  }

  private static void requireNothing(LayerGroup group, List<Form> forms) {
    for (int place = 0; place < group.count(); place++) {
      int layer = group.layer(place);
      if (forms.get(layer).size() > 0) {
        throw Envelope.BLOCK.refused(
            "has %d bytes of layer %d, which has let go of it"
                .formatted(forms.get(layer).size(), layer));
      }
    }
  }

  /** What layers of a group are alike. */
  static int kind(Envelope envelope, LayerGroup group, byte[] kinds) {
    int kind = kinds[group.layer(0)];
    for (int place = 1; place < group.count(); place++) {
      if (kinds[group.layer(place)] != kind) {
        throw envelope.refused(
            "has layer %d as kind %d and layer %d, which looks as far back, as kind %d"
                .formatted(group.layer(0), kind, group.layer(place), kinds[group.layer(place)]));
      }
    }
    return kind;
  }

  private DenseBlock numbers(LayerGroup group, List<Form> forms) {
    List<ByteBuffer> layers = new ArrayList<>();
    for (int place = 0; place < group.count(); place++) {
      ByteBuffer in = forms.get(group.layer(place)).bytes();
      Envelope.BLOCK.requireRest(in, bytes(group.shape().ofLayers(1), Page.TOKENS));
      layers.add(in);
    }
    DenseBlock block = newDense(group, Page.TOKENS);
    for (int place = 0; place < group.count(); place++) {
      readLayer(block, group.layer(place), Page.TOKENS, layers.get(place));
    }
    return block;
  }

  private static void readLayer(DenseBlock block, int layer, int tokens, ByteBuffer in) {
    block.readKeys(layer, tokens, in);
    block.readValues(layer, tokens, in);
  }

  /**
   * A block as it came, of which some layers are there, each with its keys and then its values.
   *
   * @param held by layer, 1 where it is there
   */
  void readNumbers(ByteBuffer in, byte[] held, int capacity, int tokens, Block[] blocks) {
    for (int i = 0; i < blocks.length; i++) {
      boolean isThere = held[groups.get(i).layer(0)] == 1;
      blocks[i] = isThere ? newDense(groups.get(i), capacity) : null;
    }
    for (int layer = 0; layer < held.length; layer++) {
      if (blocks[groups.of(layer)] instanceof DenseBlock dense) {
        readLayer(dense, layer, tokens, in);
      }
    }
  }
}
