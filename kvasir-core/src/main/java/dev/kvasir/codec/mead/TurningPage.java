package dev.kvasir.codec.mead;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageRoom;
import dev.kvasir.kernel.Kernels;

/** A page that knows its keys as they were before rotation. */
sealed interface TurningPage extends Page permits MeadPage, TokenPage {
  MeadTables tables();

  /** Of the first token. */
  int position();

  /** Makes all keys of a head, before rotation: {@link MeadRoom#vectors} // (TOKENS, keyWidth) */
  void readKeys(Kernels kernels, MeadRoom room, int kvHead);

  @Override
  default void expandKeys(PageRoom worker, int kvHead, int tokens, float[] out) {
    MeadTables tables = tables();
    MeadRoom room = MeadRoom.of(worker, tables.sizes());
    Kernels kernels = worker.kernels();
    readKeys(kernels, room, kvHead);
    tables.turns().turnEach(kernels, room.vectors, tokens);
    room.turn(tables.turns()).turn(kernels, room.vectors, tokens, tables.rotation(), position());
    tables.turns().restore(room.vectors, tokens, out);
  }
}
