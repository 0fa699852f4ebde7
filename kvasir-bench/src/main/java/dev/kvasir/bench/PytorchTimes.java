package dev.kvasir.bench;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.kvasir.error.InvalidInputException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Times of PyTorch attention for the same shapes in half precision, measured by a script. */
final class PytorchTimes {
  private static final String SCRIPT = "sdpa.py";

  /**
   * @param backend the fastest that supports the shape
   */
  record Time(double micros, String backend, String version) {}

  private PytorchTimes() {}

  /**
   * Measures all shapes.
   *
   * @throws InvalidInputException if there is no python3 with torch, or a shape has no backend
   */
  static Map<GpuShape, Time> measure(List<GpuShape> shapes) {
    List<String> command = new ArrayList<>(List.of("python3", "-c", script()));
    for (GpuShape shape : shapes) {
      command.add(
          "%d,%d,%d,%d,%d"
              .formatted(
                  shape.batch(),
                  shape.tokens(),
                  shape.heads().queryHeads(),
                  shape.heads().kvHeads(),
                  shape.heads().headDim()));
    }
    List<String> lines = run(command).lines().filter(line -> line.startsWith("{")).toList();
    if (lines.size() != shapes.size()) {
      throw new InvalidInputException(
          "--pytorch: python3 timed %d of %d shapes; expected a python3 with torch and a device"
              .formatted(lines.size(), shapes.size()));
    }
    Map<GpuShape, Time> times = new LinkedHashMap<>();
    for (int i = 0; i < lines.size(); i++) {
      times.put(shapes.get(i), time(JsonParser.parseString(lines.get(i)).getAsJsonObject()));
    }
    return times;
  }

  private static Time time(JsonObject line) {
    return new Time(
        line.get("micros").getAsDouble(),
        line.get("backend").getAsString(),
        line.get("torch").getAsString());
  }

  private static String script() {
    try (InputStream in = PytorchTimes.class.getResourceAsStream(SCRIPT)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new IllegalStateException(e); // the jar contains it
    }
  }

  private static String run(List<String> command) {
    try {
      Process process =
          new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
      process.getOutputStream().close();
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      process.waitFor();
      return output;
    } catch (IOException e) {
      return "";
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return "";
    }
  }
}
