package dev.kvasir.format;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** Writes small safetensors files: valid ones, and with {@link #file} any content. */
public final class SafetensorsWriter {
  private final JsonObject header = new JsonObject();
  private final LittleEndianBytes data = new LittleEndianBytes();

  SafetensorsWriter metadata(String key, String value) {
    if (!header.has("__metadata__")) {
      header.add("__metadata__", new JsonObject());
    }
    header.getAsJsonObject("__metadata__").addProperty(key, value);
    return this;
  }

  public SafetensorsWriter tensor(String name, String dtype, byte[] bytes, long... shape) {
    JsonArray sizes = new JsonArray();
    for (long size : shape) {
      sizes.add(size);
    }
    JsonArray offsets = new JsonArray();
    offsets.add(data.size());
    offsets.add(data.size() + bytes.length);
    JsonObject entry = new JsonObject();
    entry.addProperty("dtype", dtype);
    entry.add("shape", sizes);
    entry.add("data_offsets", offsets);
    header.add(name, entry);
    data.raw(bytes);
    return this;
  }

  /** Adds an F32 tensor. */
  public SafetensorsWriter floats(String name, float[] values, long... shape) {
    return tensor(name, "F32", LittleEndianBytes.ofFloats(values), shape);
  }

  public byte[] bytes() {
    return file(header.toString(), data.toArray());
  }

  public Path writeTo(Path file) {
    try {
      return Files.write(file, bytes());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns a file with any header, padded with spaces as the format requires, and any data. */
  static byte[] file(String header, byte... data) {
    byte[] utf8 = header.getBytes(StandardCharsets.UTF_8);
    LittleEndianBytes padded = new LittleEndianBytes().raw(utf8);
    while (padded.size() % 8 != 0) {
      padded.int8(' ');
    }
    return new LittleEndianBytes().int64(padded.size()).raw(padded.toArray()).raw(data).toArray();
  }
}
