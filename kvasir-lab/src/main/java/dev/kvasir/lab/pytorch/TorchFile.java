package dev.kvasir.lab.pytorch;

import dev.kvasir.error.InvalidInputException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * A file of {@code torch.save}: a zip archive with a pickle, {@code NAME/data.pkl}, and the
 * storages of its tensors, {@code NAME/data/KEY}. Tensors are read when they are asked for.
 */
public final class TorchFile implements AutoCloseable {
  private static final String PICKLE = "/data.pkl";

  /** Objects of a codebook take some thousand bytes. */
  private static final int MAX_PICKLE_BYTES = 64 << 20;

  private final Path path;
  private final ZipFile zip;
  private final String folder;
  private final Object root;

  private TorchFile(Path path, ZipFile zip) throws IOException {
    this.path = path;
    this.zip = zip;
    ZipEntry pickle =
        zip.stream()
            .map(ZipEntry.class::cast)
            .filter(entry -> entry.getName().endsWith(PICKLE))
            .findFirst()
            .orElseThrow(() -> invalid("has no data.pkl; expected a file of torch.save"));
    this.folder = pickle.getName().substring(0, pickle.getName().length() - PICKLE.length());
    try {
      this.root = PickleReader.read(bytes(pickle, MAX_PICKLE_BYTES));
    } catch (IllegalArgumentException e) {
      throw new InvalidInputException(
          "%s: has %s; expected tensors, lists and dictionaries alone"
              .formatted(path, e.getMessage()),
          e);
    }
  }

  public static TorchFile open(Path path) {
    ZipFile zip;
    try {
      zip = new ZipFile(path.toFile());
    } catch (IOException e) {
      throw new InvalidInputException(
          "%s: cannot be read as a file of torch.save".formatted(path), e);
    }
    try {
      return new TorchFile(path, zip);
    } catch (IOException | RuntimeException e) {
      closeAfter(zip, e);
      throw e instanceof InvalidInputException known
          ? known
          : new InvalidInputException("%s: cannot be read".formatted(path), e);
    }
  }

  private static void closeAfter(ZipFile zip, Exception cause) {
    try {
      zip.close();
    } catch (IOException e) {
      cause.addSuppressed(e);
    }
  }

  /** Returns the saved object: a map, list, text, number or {@link TorchTensor}. */
  public Object root() {
    return root;
  }

  /** Returns a member of a saved dictionary. */
  public Object member(Object dictionary, String key) {
    if (!(dictionary instanceof Map<?, ?> map) || map.get(key) == null) {
      throw invalid("has no '%s'".formatted(key));
    }
    return map.get(key);
  }

  /** Returns a saved list. */
  public List<?> list(Object found, String name) {
    if (!(found instanceof List<?> list)) {
      throw invalid("'%s' is no list".formatted(name));
    }
    return list;
  }

  /** Returns a tensor; rejects another shape. */
  public float[] floats(Object found, String name, long... shape) {
    if (!(found instanceof TorchTensor tensor)) {
      throw invalid("'%s' is no tensor".formatted(name));
    }
    if (!tensor.hasShape(shape)) {
      throw invalid(
          "'%s' has shape %s; expected %s"
              .formatted(name, tensor.shape(), java.util.Arrays.toString(shape)));
    }
    ByteBuffer storage = storage(tensor.storage());
    int count = 1;
    for (long size : shape) {
      count = Math.multiplyExact(count, Math.toIntExact(size));
    }
    float[] out = new float[count];
    try {
      for (int i = 0; i < count; i++) {
        out[i] = number(storage, tensor.storage().type(), index(tensor, i));
      }
    } catch (IndexOutOfBoundsException | ArithmeticException e) {
      throw new InvalidInputException("%s: '%s' ends early".formatted(path, name), e);
    }
    return out;
  }

  /** Returns the index in the storage of a tensor's number in row-major order. */
  private static int index(TorchTensor tensor, int number) {
    long at = tensor.offset();
    int rest = number;
    for (int axis = tensor.shape().size() - 1; axis >= 0; axis--) {
      int size = Math.toIntExact(tensor.shape().get(axis));
      at = Math.addExact(at, Math.multiplyExact(tensor.strides().get(axis), (long) (rest % size)));
      rest /= size;
    }
    return Math.toIntExact(at);
  }

  private static float number(ByteBuffer from, TorchStorage.NumberType type, int index) {
    int at = Math.multiplyExact(index, type.bytes());
    return switch (type) {
      case FLOAT -> from.getFloat(at);
      case DOUBLE -> (float) from.getDouble(at);
      case HALF -> Float.float16ToFloat(from.getShort(at));
      case BFLOAT16 -> Float.intBitsToFloat(from.getShort(at) << 16);
    };
  }

  private ByteBuffer storage(TorchStorage storage) {
    ZipEntry entry = zip.getEntry(folder + "/data/" + storage.key());
    if (entry == null) {
      throw invalid("has no storage '%s'".formatted(storage.key()));
    }
    try {
      return ByteBuffer.wrap(bytes(entry, Integer.MAX_VALUE - 8)).order(ByteOrder.LITTLE_ENDIAN);
    } catch (IOException e) {
      throw new InvalidInputException("%s: cannot be read".formatted(path), e);
    }
  }

  private byte[] bytes(ZipEntry entry, int most) throws IOException {
    if (entry.getSize() > most) {
      throw invalid("%s has %d bytes; expected at most %d".formatted(entry, entry.getSize(), most));
    }
    try (InputStream in = zip.getInputStream(entry)) {
      return in.readNBytes(most);
    }
  }

  private InvalidInputException invalid(String what) {
    return new InvalidInputException("%s: %s".formatted(path, what));
  }

  @Override
  public void close() {
    try {
      zip.close();
    } catch (IOException e) {
      throw new InvalidInputException("%s: cannot be closed".formatted(path), e);
    }
  }
}
