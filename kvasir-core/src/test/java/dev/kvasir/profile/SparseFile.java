package dev.kvasir.profile;

import java.io.Closeable;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;

/** A long file with a few written bytes; the others are holes that read as zeros. */
final class SparseFile implements Closeable {
  private final RandomAccessFile file;

  SparseFile(Path path) throws IOException {
    this.file = new RandomAccessFile(path.toFile(), "rw");
  }

  long length() throws IOException {
    return file.length();
  }

  void length(long bytes) throws IOException {
    file.setLength(bytes);
  }

  void write(long at, byte... bytes) throws IOException {
    file.seek(at);
    file.write(bytes);
  }

  void half(long at, float value) throws IOException {
    short bits = Float.floatToFloat16(value);
    write(at, (byte) bits, (byte) (bits >> 8));
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
