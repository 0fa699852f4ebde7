package dev.kvasir.codec.mead;

import dev.kvasir.codec.Envelope;
import dev.kvasir.codec.Form;
import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.PageReaders;
import dev.kvasir.codec.PageRoom;
import dev.kvasir.kernel.Kernels;
import java.nio.ByteBuffer;

/**
 * Tokens of the first layer, whose keys and values depend on their ids alone. Stored:
 *
 * <pre>
 * u32  position of the first token
 *      ids of the tokens
 * </pre>
 */
final class TokenPage implements TurningPage {
  /** Its number among stored pages. */
  private static final int KIND = 61;

  private final MeadTables tables;
  private final TokenRows rows;
  private final BlockTokens tokens;

  /**
   * @param tokens held until the page is closed
   */
  TokenPage(MeadTables tables, BlockTokens tokens) {
    this.tables = tables;
    this.rows = tables.first().orElseThrow();
    this.tokens = tokens;
  }

  @Override
  public MeadTables tables() {
    return tables;
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
  public void readKeys(Kernels kernels, MeadRoom room, int kvHead) {
    int width = tables.sizes().keyWidth();
    readPicks(room);
    long first = (long) Short.BYTES * kvHead * width;
    int stride = tables.sizes().kvHeads() * width;
    kernels.rowCodes().gather(rows.keys(), first, stride, room.picks, TOKENS, width, room.vectors);
  }

  /** Makes the first values of a head: // (count, valueDim) */
  void readValues(Kernels kernels, MeadRoom room, int kvHead, int count, float[] out) {
    int valueDim = tables.sizes().valueDim();
    readPicks(room);
    long first = (long) Short.BYTES * kvHead * valueDim;
    int stride = tables.sizes().kvHeads() * valueDim;
    kernels.rowCodes().gather(rows.values(), first, stride, room.picks, count, valueDim, out);
  }

  /** An id that the model does not have stands for its first token. */
  private void readPicks(MeadRoom room) {
    room.forget();
    tokens.read(room.ids);
    for (int token = 0; token < TOKENS; token++) {
      int id = room.ids[token];
      room.picks[token] = id < rows.vocabulary() ? id : 0;
    }
  }

  @Override
  public void expandValues(PageRoom worker, int kvHead, int count, float[] out) {
    MeadRoom room = MeadRoom.of(worker, tables.sizes());
    readValues(worker.kernels(), room, kvHead, count, out);
  }

  @Override
  public byte[] form() {
    return Envelope.PAGE.seal(
        KIND,
        Integer.BYTES + BlockTokens.BYTES,
        out -> {
          out.putInt(tokens.position());
          out.put(tokens.bytes().asByteBuffer());
        });
  }

  /** Reads what {@link #form} wrote. */
  static TokenPage read(Form form, MeadTables tables, ReadingRoom room) {
    return Envelope.PAGE.open(form, KIND, in -> read(in, tables, room));
  }

  private static TokenPage read(ByteBuffer in, MeadTables tables, ReadingRoom room) {
    int position = Envelope.PAGE.position(in);
    Envelope.PAGE.requireRest(in, BlockTokens.BYTES);
    BlockTokens tokens = room.ids(in, position);
    room.known().add(tokens);
    return new TokenPage(tables, tokens);
  }

  @Override
  public long codeBytes() {
    return 0;
  }

  @Override
  public long scaleBytes() {
    return BlockTokens.BYTES;
  }

  @Override
  public void close() {
    tokens.release();
  }
}
