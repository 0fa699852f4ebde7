package dev.kvasir.codec.mead;

import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.PageReaders;
import dev.kvasir.codec.PageWorkspace;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.codec.SnapshotHeader;
import dev.kvasir.kernel.Kernels;
import java.nio.ByteBuffer;

/**
 * A page of the first layer, whose keys and values depend on the token ids alone. Serialized:
 *
 * <pre>
 * u32  position of the first token
 *      token ids
 * </pre>
 */
final class TokenIdPage implements PreRopePage {
  /** Kind of the serialized page. */
  private static final int KIND = 61;

  private final MeadTables tables;
  private final TokenKvTable rows;
  private final BlockTokenIds tokens;

  /**
   * @param tokens owned by the page until it is closed
   */
  TokenIdPage(MeadTables tables, BlockTokenIds tokens) {
    this.tables = tables;
    this.rows = tables.firstLayer().orElseThrow();
    this.tokens = tokens;
  }

  @Override
  public MeadTables tables() {
    return tables;
  }

  @Override
  public int layer() {
    return 0;
  }

  @Override
  public int position() {
    return tokens.position();
  }

  @Override
  public PageReader reader(PageReaders readers) {
    return readers.of(MeadReader.KIND);
  }

  @Override
  public void readKeys(Kernels kernels, MeadWorkspace meadWorkspace, int kvHead) {
    int width = tables.sizes().keyWidth();
    readTableRows(meadWorkspace);
    long first = (long) Short.BYTES * kvHead * width;
    int stride = tables.sizes().kvHeads() * width;
    kernels
        .rowCodes()
        .gather(
            rows.keys(),
            first,
            stride,
            meadWorkspace.tableRows,
            TOKENS,
            width,
            meadWorkspace.vectors);
  }

  /** Reads the first values of a head. // (count, valueDim) */
  void readValues(
      Kernels kernels, MeadWorkspace meadWorkspace, int kvHead, int count, float[] out) {
    int valueDim = tables.sizes().valueDim();
    readTableRows(meadWorkspace);
    long first = (long) Short.BYTES * kvHead * valueDim;
    int stride = tables.sizes().kvHeads() * valueDim;
    kernels
        .rowCodes()
        .gather(rows.values(), first, stride, meadWorkspace.tableRows, count, valueDim, out);
  }

  /** Looks up the ids; an id outside the vocabulary stands for id 0. */
  private void readTableRows(MeadWorkspace meadWorkspace) {
    meadWorkspace.unbind();
    tokens.read(meadWorkspace.ids);
    for (int token = 0; token < TOKENS; token++) {
      int id = meadWorkspace.ids[token];
      meadWorkspace.tableRows[token] = id < rows.vocabulary() ? id : 0;
    }
  }

  @Override
  public void dequantizeValues(PageWorkspace workspace, int kvHead, int count, float[] out) {
    MeadWorkspace meadWorkspace = MeadWorkspace.of(workspace, tables.sizes());
    readValues(workspace.kernels(), meadWorkspace, kvHead, count, out);
  }

  @Override
  public byte[] serialize() {
    return SnapshotHeader.PAGE.wrap(
        KIND,
        Integer.BYTES + BlockTokenIds.BYTES,
        out -> {
          out.putInt(tokens.position());
          out.put(tokens.bytes().asByteBuffer());
        });
  }

  /** Reads what {@link #serialize} wrote. */
  static TokenIdPage read(Snapshot snapshot, MeadTables tables, MeadReadContext context) {
    return SnapshotHeader.PAGE.unwrap(snapshot, KIND, in -> read(in, tables, context));
  }

  private static TokenIdPage read(ByteBuffer in, MeadTables tables, MeadReadContext context) {
    int position = SnapshotHeader.PAGE.readPosition(in);
    SnapshotHeader.PAGE.requireRemaining(in, BlockTokenIds.BYTES);
    BlockTokenIds tokens = context.readTokenIds(in, position);
    context.known().add(tokens);
    return new TokenIdPage(tables, tokens);
  }

  @Override
  public long codeBytes() {
    return 0;
  }

  @Override
  public long scaleBytes() {
    return BlockTokenIds.BYTES;
  }

  @Override
  public void close() {
    tokens.release();
  }
}
