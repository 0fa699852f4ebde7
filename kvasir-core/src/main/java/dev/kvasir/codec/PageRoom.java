package dev.kvasir.codec;

import dev.kvasir.kernel.Kernels;
import dev.kvasir.page.CodeRoom;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * What one worker expands pages with: its kernels, and memory for what becomes of a page on the
 * way, which each kind of page brings along and finds again at the next page. It lives as long as
 * the worker's readers, or as one expansion where nobody keeps it.
 */
public final class PageRoom {
  private final Kernels kernels;
  private final CodeRoom codes = new CodeRoom();
  private final List<Object> rooms = new ArrayList<>(); // one of each class

  public PageRoom(Kernels kernels) {
    this.kernels = kernels;
  }

  public Kernels kernels() {
    return kernels;
  }

  /** For blocks of codes. */
  public CodeRoom codes() {
    return codes;
  }

  /** The room of a class, made when it is first asked for. */
  public <T> T of(Class<T> type, Supplier<T> make) {
    for (int i = 0; i < rooms.size(); i++) {
      if (rooms.get(i).getClass() == type) {
        return type.cast(rooms.get(i));
      }
    }
    T room = make.get();
    rooms.add(room);
    return room;
  }
}
