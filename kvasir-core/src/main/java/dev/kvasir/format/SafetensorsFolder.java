package dev.kvasir.format;

import dev.kvasir.error.InvalidInputException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The weights of a Hugging Face model folder: {@code model.safetensors}, or {@code
 * model.safetensors.index.json} with the shard of each tensor.
 */
public final class SafetensorsFolder implements TensorSource {
  private static final String SINGLE = "model.safetensors";
  private static final String INDEX = "model.safetensors.index.json";

  private static final String BLOCKS = "_blocks";
  private static final String SCALES = "_scales";

  private final Path folder;
  private final Map<Path, SafetensorsFile> shards = new LinkedHashMap<>();
  private final Map<String, SafetensorsFile> shardOfTensor = new LinkedHashMap<>();
  private final Nvfp4Tensors nvfp4;

  private SafetensorsFolder(Path folder) {
    this.folder = folder;
    this.nvfp4 = new Nvfp4Tensors(folder.toString(), this::findBytes, this::findFloats);
  }

  /** Returns whether {@link #open} finds weights in a folder. */
  public static boolean holdsWeights(Path folder) {
    return Files.exists(folder.resolve(SINGLE)) || Files.exists(folder.resolve(INDEX));
  }

  /**
   * Returns a required file of a model folder.
   *
   * @param name name of the file
   * @throws InvalidInputException if it is missing
   */
  public static Path require(Path folder, String name) {
    Path file = folder.resolve(name);
    if (!Files.exists(file)) {
      throw new InvalidInputException(
          "%s: no such file; expected %s"
              .formatted(
                  file,
                  ggufFile(folder)
                      .map(found -> "a file of the folder, such as " + found)
                      .orElse("a GGUF file, or a folder as Hugging Face lays it out")));
    }
    return file;
  }

  /** Returns the first GGUF file of a folder in the order of names. */
  private static Optional<Path> ggufFile(Path folder) {
    try (Stream<Path> files = Files.list(folder)) {
      return files.filter(file -> file.toString().endsWith(".gguf")).sorted().findFirst();
    } catch (IOException e) {
      return Optional.empty(); // the missing file is the better message
    }
  }

  /** Maps the single file, or every shard in the index. */
  public static SafetensorsFolder open(Path folder) {
    SafetensorsFolder opened = new SafetensorsFolder(folder);
    try {
      opened.openFiles();
      return opened;
    } catch (RuntimeException | Error e) {
      opened.close();
      throw e;
    }
  }

  private void openFiles() {
    if (!Files.isDirectory(folder)) {
      throw new InvalidInputException(folder + ": no such folder");
    }
    UnsupportedQuantization.refuse(folder);
    if (Files.exists(folder.resolve(SINGLE))) {
      SafetensorsFile file = shard(folder.resolve(SINGLE));
      file.names().forEach(tensorName -> shardOfTensor.put(tensorName, file));
    } else if (Files.exists(folder.resolve(INDEX))) {
      openShards(JsonFile.read(folder.resolve(INDEX)));
    } else {
      throw new InvalidInputException(
          "%s: holds neither %s nor %s".formatted(folder, SINGLE, INDEX));
    }
    UnsupportedQuantization.refuse(folder, shardOfTensor.keySet());
  }

  private void openShards(JsonFile index) {
    JsonFile map =
        index.object("weight_map").orElseThrow(() -> index.missing("weight_map", "an object"));
    for (String tensorName : map.root().keySet()) {
      String fileName = map.string(tensorName).orElseThrow(() -> map.missing(tensorName, "a file"));
      Path file =
          sibling(fileName)
              .orElseThrow(
                  () ->
                      map.wrong(
                          tensorName, map.root().get(tensorName), "a file name without a folder"));
      shardOfTensor.put(tensorName, shard(file));
    }
  }

  /** Shards must be in the folder of the index: a path could point anywhere on the disk. */
  private Optional<Path> sibling(String fileName) {
    if (fileName.isBlank() || fileName.contains("/") || fileName.contains("\\")) {
      return Optional.empty();
    }
    try {
      return Optional.of(folder.resolve(fileName));
    } catch (InvalidPathException notAName) {
      return Optional.empty();
    }
  }

  private SafetensorsFile shard(Path file) {
    return shards.computeIfAbsent(file, SafetensorsFile::open);
  }

  @Override
  public String name() {
    return folder.toString();
  }

  @Override
  public Collection<Tensor> tensors() {
    return shards.values().stream()
        .flatMap(
            shard -> shard.tensors().stream().filter(t -> shardOfTensor.get(t.name()) == shard))
        .toList();
  }

  @Override
  public Optional<Tensor> find(String tensorName) {
    return nvfp4.find(tensorName).or(() -> findFloats(tensorName));
  }

  private Optional<Tensor> findFloats(String tensorName) {
    SafetensorsFile shard = shardOfTensor.get(tensorName);
    return shard == null ? Optional.empty() : shard.find(tensorName);
  }

  /** Returns the matrices in {@code NAME_blocks} and {@code NAME_scales}. */
  public Optional<Mxfp4Pair> findMxfp4(String tensorName) {
    Optional<ByteTensor> blocks = findBytes(tensorName + BLOCKS);
    Optional<ByteTensor> scales = findBytes(tensorName + SCALES);
    return blocks.isEmpty() || scales.isEmpty()
        ? Optional.empty()
        : Optional.of(Mxfp4Pair.of(name(), tensorName, blocks.get(), scales.get()));
  }

  @Override
  public SortedMap<String, MemorySegment> pairedBytes() {
    SortedMap<String, MemorySegment> found = new TreeMap<>();
    for (String tensorName : shardOfTensor.keySet()) {
      if (tensorName.endsWith(BLOCKS)) {
        String scales = tensorName.substring(0, tensorName.length() - BLOCKS.length()) + SCALES;
        Optional<ByteTensor> blocks = findBytes(tensorName);
        Optional<ByteTensor> ofBlocks = findBytes(scales);
        if (blocks.isPresent() && ofBlocks.isPresent()) {
          found.put(tensorName, blocks.get().data());
          found.put(scales, ofBlocks.get().data());
        }
      }
      nvfp4
          .ofScales(tensorName)
          .ifPresent(
              pair -> {
                found.put(tensorName + ".codes", pair.get(0));
                found.put(tensorName, pair.get(1));
              });
    }
    return found;
  }

  private Optional<ByteTensor> findBytes(String tensorName) {
    SafetensorsFile shard = shardOfTensor.get(tensorName);
    return shard == null ? Optional.empty() : shard.findBytes(tensorName);
  }

  @Override
  public void protect() {
    shards.values().forEach(SafetensorsFile::protect);
  }

  @Override
  public boolean isIntact() {
    return shards.values().stream().allMatch(SafetensorsFile::isIntact);
  }

  @Override
  public void close() {
    shards.values().forEach(SafetensorsFile::close);
  }
}
