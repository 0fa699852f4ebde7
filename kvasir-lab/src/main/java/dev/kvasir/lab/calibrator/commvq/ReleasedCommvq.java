package dev.kvasir.lab.calibrator.commvq;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.commvq.AdditiveStages;
import dev.kvasir.codec.commvq.BitPairs;
import dev.kvasir.codec.commvq.EncoderProfile;
import dev.kvasir.codec.commvq.EncoderWeights;
import dev.kvasir.codec.commvq.KeyCodebook;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.SafetensorsFolder;
import dev.kvasir.format.Tensor;
import dev.kvasir.kernel.Int8Codebooks;
import dev.kvasir.lab.pytorch.TorchFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Reads the files of the paper's authors (UMass-Embodied-AGI/CommVQ). A folder, or its subfolders,
 * holds both of what they release for a model and a bit width:
 *
 * <pre>
 * LLL_H.pt            keys of layer LLL, KV head H: {steps: [{theta: (2 * 64, pairs), ...}, ...]}
 * model*.safetensors  values: model.layers.L.self_attn.value_vq_model.NAME
 *                     learnable_scale (width), norm1.weight, norm1.bias (width),
 *                     enc1.weight (hidden, width), enc1.bias (hidden),
 *                     out.weight (2 * bits, hidden), out.bias (2 * bits), embedding (bits, width)
 * </pre>
 *
 * Row {@code 2 a} of theta holds X and row {@code 2 a + 1} holds Y of {@link KeyCodebook} for the
 * pairs of a head in the order of their frequencies. Keys have no mean.
 */
final class ReleasedCommvq {
  private static final int ROWS = AdditiveStages.ROWS;

  private final CacheShape shape;
  private final int bits;

  private ReleasedCommvq(CacheShape shape, int bits) {
    this.shape = shape;
    this.bits = bits;
  }

  /** Reads a release; rejects one of another shape or width. */
  static EncoderProfile read(Path folder, CacheShape shape, int bits) {
    ReleasedCommvq release = new ReleasedCommvq(shape, bits);
    List<Path> folders = folders(folder);
    Path keys =
        find(folders, some -> Files.exists(some.resolve(keyFile(0, 0))))
            .orElseThrow(() -> missing(folder, keyFile(0, 0) + ", codebooks of keys"));
    Path values =
        find(folders, SafetensorsFolder::holdsWeights)
            .orElseThrow(() -> missing(folder, "model.safetensors, or its index, with encoders"));
    return new EncoderProfile(bits, release.keys(keys), release.encoders(values));
  }

  private static InvalidInputException missing(Path folder, String what) {
    return new InvalidInputException(
        "%s: neither it nor a folder in it has %s".formatted(folder, what));
  }

  private static Optional<Path> find(
      List<Path> folders, java.util.function.Predicate<Path> wanted) {
    return folders.stream().filter(wanted).findFirst();
  }

  private static List<Path> folders(Path folder) {
    if (!Files.isDirectory(folder)) {
      throw new InvalidInputException("--import is '%s'; no such folder".formatted(folder));
    }
    try (Stream<Path> inside = Files.list(folder)) {
      return Stream.concat(Stream.of(folder), inside.filter(Files::isDirectory).sorted()).toList();
    } catch (IOException e) {
      throw new InvalidInputException("%s: cannot be read".formatted(folder), e);
    }
  }

  private static String keyFile(int layer, int head) {
    return "%03d_%d.pt".formatted(layer, head);
  }

  private List<List<KeyCodebook>> keys(Path folder) {
    List<List<KeyCodebook>> layers = new ArrayList<>();
    for (int layer = 0; layer < shape.layers(); layer++) {
      List<KeyCodebook> heads = new ArrayList<>();
      for (int head = 0; head < shape.kvHeads(); head++) {
        heads.add(codebook(folder.resolve(keyFile(layer, head))));
        requireSameStages(folder.resolve(keyFile(layer, head)), heads.getLast(), layers, heads);
      }
      layers.add(heads);
    }
    return layers;
  }

  private static void requireSameStages(
      Path file, KeyCodebook found, List<List<KeyCodebook>> layers, List<KeyCodebook> heads) {
    KeyCodebook first = layers.isEmpty() ? heads.getFirst() : layers.getFirst().getFirst();
    if (found.stages().stages() != first.stages().stages()) {
      throw new InvalidInputException(
          "%s: has %d steps; the first head has %d"
              .formatted(file, found.stages().stages(), first.stages().stages()));
    }
  }

  private KeyCodebook codebook(Path path) {
    int keyDim = shape.keyDim();
    int pairs = keyDim / 2;
    try (TorchFile file = TorchFile.open(path)) {
      List<?> steps = file.list(file.member(file.root(), "steps"), "steps");
      if (steps.isEmpty() || 2 * steps.size() > Int8Codebooks.MAX_SETS) {
        throw new InvalidInputException(
            "%s: has %d steps; expected 1 to %d"
                .formatted(path, steps.size(), Int8Codebooks.MAX_SETS / 2));
      }
      float[] numbers = new float[steps.size() * ROWS * keyDim];
      for (int stage = 0; stage < steps.size(); stage++) {
        float[] theta =
            file.floats(file.member(steps.get(stage), "theta"), "theta", 2 * ROWS, pairs);
        for (int row = 0; row < ROWS; row++) {
          int to = (stage * ROWS + row) * keyDim;
          System.arraycopy(theta, 2 * row * pairs, numbers, to, pairs);
          System.arraycopy(theta, (2 * row + 1) * pairs, numbers, to + pairs, pairs);
        }
      }
      return new KeyCodebook(new float[keyDim], numbers);
    }
  }

  private List<EncoderWeights> encoders(Path folder) {
    try (SafetensorsFolder weights = SafetensorsFolder.open(folder)) {
      List<EncoderWeights> layers = new ArrayList<>();
      for (int layer = 0; layer < shape.layers(); layer++) {
        layers.add(encoder(weights, "model.layers.%d.self_attn.value_vq_model.".formatted(layer)));
      }
      return layers;
    }
  }

  private EncoderWeights encoder(SafetensorsFolder from, String prefix) {
    long width = (long) shape.kvHeads() * shape.valueDim();
    long tokenBits = BitPairs.bits(bits, (int) width);
    long hidden = tensor(from, prefix + "enc1.bias").values();
    return new EncoderWeights(
        floats(from, prefix + "learnable_scale", width),
        floats(from, prefix + "norm1.weight", width),
        floats(from, prefix + "norm1.bias", width),
        floats(from, prefix + "enc1.weight", hidden, width),
        floats(from, prefix + "enc1.bias", hidden),
        floats(from, prefix + "out.weight", 2 * tokenBits, hidden),
        floats(from, prefix + "out.bias", 2 * tokenBits),
        floats(from, prefix + "embedding", tokenBits, width));
  }

  private static Tensor tensor(SafetensorsFolder from, String name) {
    return from.find(name)
        .orElseThrow(
            () -> new InvalidInputException("%s: has no '%s'".formatted(from.name(), name)));
  }

  private static float[] floats(SafetensorsFolder from, String name, long... expected) {
    Tensor tensor = tensor(from, name);
    if (!Arrays.equals(tensor.shape(), expected)) {
      throw new InvalidInputException(
          "%s: '%s' has shape %s; expected %s"
              .formatted(
                  from.name(), name, Arrays.toString(tensor.shape()), Arrays.toString(expected)));
    }
    float[] floats = new float[Math.toIntExact(tensor.values())];
    tensor.type().decode(tensor.data(), 0, floats.length, floats, 0);
    return floats;
  }
}
