package dev.kvasir.format;

import com.google.gson.JsonElement;
import dev.kvasir.error.InvalidInputException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The weights of a model folder as Hugging Face lays it out: {@code model.safetensors}, or {@code
 * model.safetensors.index.json} that says which shard holds which tensor.
 */
public final class SafetensorsFolder implements TensorSource {
  private static final String SINGLE = "model.safetensors";
  private static final String INDEX = "model.safetensors.index.json";

  private final String name;
  private final Map<String, SafetensorsFile> shards = new LinkedHashMap<>();
  private final Map<String, String> shardOfTensor = new LinkedHashMap<>();

  private SafetensorsFolder(Path folder) {
    this.name = folder.toString();
  }

  public static SafetensorsFolder open(Path folder) {
    SafetensorsFolder opened = new SafetensorsFolder(folder);
    try {
      opened.openShards(folder);
      return opened;
    } catch (RuntimeException | Error e) {
      opened.close();
      throw e;
    }
  }

  private void openShards(Path folder) {
    Path index = folder.resolve(INDEX);
    if (Files.exists(folder.resolve(SINGLE)) || !Files.exists(index)) {
      if (!Files.exists(folder.resolve(SINGLE))) {
        throw new InvalidInputException(
            "%s: holds neither %s nor %s".formatted(folder, SINGLE, INDEX));
      }
      SafetensorsFile file = SafetensorsFile.open(folder.resolve(SINGLE));
      shards.put(SINGLE, file);
      file.tensors().forEach(tensor -> shardOfTensor.put(tensor.name(), SINGLE));
      return;
    }
    JsonFile json = JsonFile.read(index);
    JsonFile map =
        json.object("weight_map").orElseThrow(() -> json.missing("weight_map", "an object"));
    for (Map.Entry<String, JsonElement> entry : map.root().entrySet()) {
      String tensorName = entry.getKey();
      String shard = map.string(tensorName).orElseThrow(() -> map.missing(tensorName, "a file"));
      // A shard is a neighbour of the index: a path could point anywhere on the disk.
      if (shard.isBlank() || shard.contains("/") || shard.contains("\\") || shard.indexOf(0) >= 0) {
        throw map.wrong(tensorName, entry.getValue(), "a file name without a folder");
      }
      if (!shards.containsKey(shard)) {
        shards.put(shard, SafetensorsFile.open(folder.resolve(shard)));
      }
      shardOfTensor.put(tensorName, shard);
    }
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public Collection<Tensor> tensors() {
    Collection<Tensor> all = new ArrayList<>();
    shards.values().forEach(shard -> all.addAll(shard.tensors()));
    return all;
  }

  @Override
  public Optional<Tensor> find(String tensorName) {
    String shard = shardOfTensor.get(tensorName);
    return shard == null ? Optional.empty() : shards.get(shard).find(tensorName);
  }

  @Override
  public void close() {
    shards.values().forEach(SafetensorsFile::close);
  }
}
