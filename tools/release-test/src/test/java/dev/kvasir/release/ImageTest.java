package dev.kvasir.release;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The container image, its layers unpacked into a folder that becomes the root of a process. */
@Tag("thorough")
class ImageTest {
  /**
   * Starts a command below another root, as the user of the image, as a container does: with /dev
   * and /proc of its own.
   */
  private static final String IN_CONTAINER =
      """
      mount --rbind /dev "$1/dev"
      root=$1
      shift
      exec unshare --user --map-user=10001 --map-group=10001 --mount --pid --fork --kill-child \
        --root="$root" --mount-proc --wd=/ -- "$@"
      """;

  private static final long PATIENCE_SECONDS = 120;
  private static final Pattern PORT = Pattern.compile("http://[^/]*:(\\d+)/");

  @TempDir static Path scratch;
  private static Path layout;
  private static Path root;
  private static JsonObject manifest;
  private static JsonObject config;

  @BeforeAll
  static void makeAndUnpack() throws Exception {
    Script.assumeItCanRun();
    Path out = scratch.resolve("made");
    Script.Outcome made = Script.run(scratch, "--no-build", "--image", "--out", out.toString());
    assumeTrue(!made.err().contains("could not be fetched"), "Debian's mirror cannot be reached");
    assertThat(made.exitCode()).as(made.err()).isZero();
    Path image =
        made.out()
            .lines()
            .filter(line -> line.endsWith("-image.tar"))
            .map(Path::of)
            .findFirst()
            .orElseThrow();
    layout = scratch.resolve("layout");
    Script.extract(image, layout, scratch);
    JsonObject index = json(layout.resolve("index.json")).getAsJsonObject();
    manifest = json(blob(index.getAsJsonArray("manifests").get(0))).getAsJsonObject();
    config = json(blob(manifest.get("config"))).getAsJsonObject();
    root = scratch.resolve("root");
    for (JsonElement layer : manifest.getAsJsonArray("layers")) {
      Script.extract(blob(layer), root, scratch);
    }
  }

  @AfterAll
  static void unlink() throws IOException {
    Script.deleteLinks(scratch);
  }

  private static JsonElement json(Path file) throws IOException {
    return JsonParser.parseString(Files.readString(file));
  }

  private static Path blob(JsonElement descriptor) {
    String digest = descriptor.getAsJsonObject().get("digest").getAsString();
    return layout.resolve("blobs").resolve(digest.replace(':', '/'));
  }

  private static List<String> strings(JsonArray array) {
    return array.asList().stream().map(JsonElement::getAsString).toList();
  }

  @Test
  void everyBlobHasTheSizeAndTheHashThatTheManifestStates() throws Exception {
    List<JsonElement> descriptors = new ArrayList<>(manifest.getAsJsonArray("layers").asList());
    descriptors.add(manifest.get("config"));
    for (JsonElement each : descriptors) {
      assertThat(blob(each)).hasFileName(Script.sha256(blob(each)));
      assertThat(blob(each)).hasSize(each.getAsJsonObject().get("size").getAsLong());
    }
    List<String> unpacked = new ArrayList<>();
    for (JsonElement layer : manifest.getAsJsonArray("layers")) {
      unpacked.add(
          "sha256:" + Script.sha256(new GZIPInputStream(Files.newInputStream(blob(layer)))));
    }
    assertThat(strings(config.getAsJsonObject("rootfs").getAsJsonArray("diff_ids")))
        .isEqualTo(unpacked);
  }

  @Test
  void olderDockersFindTheSameConfigurationAndLayers() throws Exception {
    JsonObject docker =
        json(layout.resolve("manifest.json")).getAsJsonArray().get(0).getAsJsonObject();
    assertThat(layout.resolve(docker.get("Config").getAsString()))
        .isEqualTo(blob(manifest.get("config")));
    assertThat(strings(docker.getAsJsonArray("Layers")))
        .map(layout::resolve)
        .isEqualTo(
            manifest.getAsJsonArray("layers").asList().stream().map(ImageTest::blob).toList());
  }

  /** The image has no /usr/bin/env for the first line of scripts, so it names bash itself. */
  @Test
  void itIsSetUpAsTheContainerfileSays() throws Exception {
    JsonObject settings = config.getAsJsonObject("config");
    String containerfile = Files.readString(root.resolve("opt/kvasir/share/Containerfile"));
    assertThat(containerfile).contains("USER " + settings.get("User").getAsString());
    assertThat(settings.getAsJsonObject("ExposedPorts").keySet()).containsExactly("8080/tcp");
    List<String> entry = strings(settings.getAsJsonArray("Entrypoint"));
    assertThat(entry).startsWith("/bin/bash");
    assertThat(containerfile).contains(jsonArray(entry.subList(1, entry.size())));
    List<String> health = strings(settings.getAsJsonObject("Healthcheck").getAsJsonArray("Test"));
    assertThat(health).startsWith("CMD", "/bin/bash");
    assertThat(containerfile).contains(jsonArray(health.subList(2, health.size())));
    assertThat(settings.getAsJsonObject("Labels").keySet())
        .contains(
            "org.opencontainers.image.version",
            "org.opencontainers.image.licenses",
            "org.opencontainers.image.source");
  }

  @Test
  void everyPackageOfDebianComesWithItsLicence() throws Exception {
    try (Stream<Path> packages = Files.list(root.resolve("usr/share/doc"))) {
      assertThat(packages)
          .isNotEmpty()
          .allSatisfy(each -> assertThat(each.resolve("copyright")).isNotEmptyFile());
    }
  }

  private static String jsonArray(List<String> values) {
    return "[\"" + String.join("\", \"", values) + "\"]";
  }

  @Test
  void itServesFromItsOwnFilesAndItsHealthCheckPasses() throws Exception {
    assumeTrue(canContain(), "this machine does not allow namespaces of users (unshare)");
    Files.writeString(root.resolve("run/secrets/api-keys"), "a-key-for-tests\n");
    JsonObject settings = config.getAsJsonObject("config");
    List<String> serve = new ArrayList<>(strings(settings.getAsJsonArray("Entrypoint")));
    serve.addAll(List.of("--port", "0"));
    Process server = contained(serve).start();
    try (BufferedReader log = server.errorReader()) {
      Matcher port = PORT.matcher(log.readLine());
      assertThat(port.find()).isTrue();
      List<String> health =
          new ArrayList<>(strings(settings.getAsJsonObject("Healthcheck").getAsJsonArray("Test")));
      health.removeFirst();
      health.set(health.size() - 1, port.group(1));
      Script.Outcome well = Script.outcome(contained(health), scratch);
      assertThat(well.exitCode()).as(well.err()).isZero();

      // Only the first process within the container gets the signal, as when Docker stops one.
      server.descendants().forEach(ProcessHandle::destroy);
      assertThat(server.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
      assertThat(server.exitValue()).isZero();
    } finally {
      server.descendants().forEach(ProcessHandle::destroyForcibly);
      server.destroyForcibly();
    }
  }

  private static boolean canContain() throws Exception {
    if (!Files.isExecutable(Path.of("/usr/bin/unshare"))) {
      return false;
    }
    return Script.outcome(contained(List.of("/bin/bash", "-c", "[ $UID = 10001 ]")), scratch)
            .exitCode()
        == 0;
  }

  private static ProcessBuilder contained(List<String> command) {
    List<String> all =
        new ArrayList<>(List.of("unshare", "--user", "--map-root-user", "--mount", "bash", "-ec"));
    all.addAll(List.of(IN_CONTAINER, "container", root.toString()));
    all.addAll(command);
    ProcessBuilder builder = new ProcessBuilder(all);
    for (JsonElement setting : config.getAsJsonObject("config").getAsJsonArray("Env")) {
      String[] nameAndValue = setting.getAsString().split("=", 2);
      if (!nameAndValue[0].equals("PATH")) {
        builder.environment().put(nameAndValue[0], nameAndValue[1]);
      }
    }
    return builder;
  }
}
