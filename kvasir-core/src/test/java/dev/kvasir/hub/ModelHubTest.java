package dev.kvasir.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.error.InvalidInputException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import kvasir.tools.StandInHub.Fault;
import kvasir.tools.StandInHub.Seen;
import kvasir.tools.StandInRepository;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Models are fetched from a hub that redirects, breaks connections, and lies. */
class ModelHubTest {
  private static final int BIG = 2 * BlobDownload.PART_BYTES + 12345;

  @TempDir Path cache;
  private HubTestBed bed;

  @BeforeEach
  void start() {
    bed = new HubTestBed(cache);
  }

  @AfterEach
  void stop() {
    bed.close();
  }

  private StandInRepository repository() {
    return bed.hub
        .repository("owner/model-GGUF")
        .add("model-Q4_K_M.gguf", HubTestBed.bytes(BIG, 1))
        .add("model-Q8_0.gguf", HubTestBed.bytes(5000, 2))
        .add("mmproj-model-f16.gguf", HubTestBed.bytes(3000, 3))
        .add("README.md", "read me");
  }

  private Path folder() {
    return cache.resolve("models--owner--model-GGUF");
  }

  @Test
  void aModelIsDownloadedIntoTheSharedLayout() throws IOException {
    StandInRepository repository = repository();
    Path file = bed.fetch("hf:owner/model-GGUF");
    assertThat(Files.readAllBytes(file)).isEqualTo(HubTestBed.bytes(BIG, 1));
    Path snapshot = folder().resolve("snapshots").resolve(repository.commit());
    assertThat(file).isEqualTo(snapshot.resolve("model-Q4_K_M.gguf"));
    assertThat(Files.readSymbolicLink(file))
        .isEqualTo(Path.of("..", "..", "blobs", repository.hash("model-Q4_K_M.gguf")));
    assertThat(folder().resolve("refs/main")).hasContent(repository.commit());
    assertThat(snapshot.resolve("mmproj-model-f16.gguf")).doesNotExist();
    assertThat(incompleteFiles()).isEmpty();
    // Three parts, each by a request of its own.
    assertThat(bed.hub.seenAtStorage()).isEqualTo(3);
  }

  private List<Path> incompleteFiles() throws IOException {
    try (var files = Files.list(folder().resolve("blobs"))) {
      return files.filter(file -> file.toString().endsWith(".incomplete")).toList();
    }
  }

  @Test
  void aSecondFetchAsksForTheListingAlone() {
    repository();
    Path first = bed.fetch("hf:owner/model-GGUF:Q8_0");
    int before = bed.hub.seen().size();
    assertThat(bed.fetch("hf:owner/model-GGUF:q8_0")).isEqualTo(first);
    assertThat(bed.hub.seen()).hasSize(before + 1);
  }

  @Test
  void aCachedCommitNeedsNoHub() {
    String commit = repository().commit();
    Path first = bed.fetch("hf:owner/model-GGUF:Q8_0@" + commit);
    int before = bed.hub.seen().size();
    assertThat(bed.fetch("hf:owner/model-GGUF:Q8_0@" + commit)).isEqualTo(first);
    assertThat(bed.hub.seen()).hasSize(before);
  }

  @Test
  void theTokenStaysAtTheHub() {
    repository().gate("secret");
    bed.client(bed.withToken("secret"))
        .fetch(HubReference.parse("hf:owner/model-GGUF"), HubListener.NONE);
    assertThat(bed.hub.seen().stream().filter(Seen::atStorage))
        .isNotEmpty()
        .allMatch(seen -> seen.authorization().isEmpty());
    assertThat(bed.hub.seen().stream().filter(seen -> !seen.atStorage()))
        .isNotEmpty()
        .allMatch(seen -> seen.authorization().filter("Bearer secret"::equals).isPresent());
  }

  @Test
  void gatedMissingAndUnknownNamesAreOneSentence() {
    repository().gate("secret");
    refused("hf:owner/model-GGUF", "is gated; request access", "HF_TOKEN");
    refused("hf:owner/nothing", "no such repository");
    assertThatThrownBy(
            () ->
                bed.client(bed.withToken("other"))
                    .fetch(HubReference.parse("hf:owner/model-GGUF"), HubListener.NONE))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("has no access")
        .hasMessageNotContaining("other");
  }

  @Test
  void unknownRevisionsAndQuantizationsNameWhatThereIs() {
    repository().tag("v1").tag("refs/pr/7");
    refused("hf:owner/model-GGUF@v2", "has no revision 'v2'");
    refused("hf:owner/model-GGUF:Q2_K", "has no 'Q2_K'; possible are Q4_K_M, Q8_0");
    assertThat(bed.fetch("hf:owner/model-GGUF:Q8_0@refs/pr/7")).isRegularFile();
    assertThat(folder().resolve("refs/refs/pr/7")).isRegularFile();
  }

  private void refused(String reference, String... parts) {
    assertThatThrownBy(() -> bed.fetch(reference))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContainingAll(parts);
  }

  @Test
  void brokenConnectionsContinueWhereTheyBroke() throws IOException {
    repository();
    bed.hub.failAtStorage(
        new Fault.Cut(1000), new Fault.Cut(7000), new Fault.Status(503, Map.of()));
    Path file = bed.fetch("hf:owner/model-GGUF");
    assertThat(Files.readAllBytes(file)).isEqualTo(HubTestBed.bytes(BIG, 1));
    assertThat(bed.hub.seenAtStorage()).isEqualTo(6);
    assertThat(bed.pauses).isNotEmpty();
  }

  @Test
  void anInterruptedDownloadIsResumed() throws IOException {
    StandInRepository repository = repository();
    Path incomplete =
        folder().resolve("blobs").resolve(repository.hash("model-Q4_K_M.gguf") + ".incomplete");
    Files.createDirectories(incomplete.getParent());
    int there = BlobDownload.PART_BYTES + 77;
    Files.write(incomplete, Arrays.copyOf(HubTestBed.bytes(BIG, 1), there));
    List<Long> progress = new ArrayList<>();
    List<HubListener.Plan> plans = new ArrayList<>();
    Path file =
        bed.client()
            .fetch(
                HubReference.parse("hf:owner/model-GGUF"),
                new HubListener() {
                  @Override
                  public void planned(Plan plan) {
                    plans.add(plan);
                  }

                  @Override
                  public void downloaded(long done, long total) {
                    assertThat(total).isEqualTo(BIG);
                    progress.add(done);
                  }
                });
    assertThat(Files.readAllBytes(file)).isEqualTo(HubTestBed.bytes(BIG, 1));
    assertThat(progress).startsWith((long) there).endsWith((long) BIG);
    assertThat(plans)
        .containsExactly(
            new HubListener.Plan(
                "hf:owner/model-GGUF:Q4_K_M", List.of("model-Q4_K_M.gguf"), BIG - there, BIG));
    assertThat(bed.hub.seen().stream().filter(Seen::atStorage).map(seen -> seen.range().get()))
        .contains("bytes=%d-%d".formatted(there, there + BlobDownload.PART_BYTES - 1))
        .noneMatch(range -> range.startsWith("bytes=0-"));
  }

  @Test
  void aFailureKeepsWhatCame() throws IOException {
    StandInRepository repository = repository();
    bed.hub.failAlwaysAtStorage(new Fault.Cut(0));
    refused("hf:owner/model-GGUF", "127.0.0.1", "after 3 attempts");
    bed.hub.repairStorage();
    Path file = bed.fetch("hf:owner/model-GGUF");
    assertThat(Files.size(file)).isEqualTo(BIG);
    assertThat(Files.isSymbolicLink(file)).isTrue();
    assertThat(repository.commit()).hasSize(40);
  }

  @Test
  void aWrongBeginningIsDownloadedAgain() throws IOException {
    StandInRepository repository = repository();
    Path incomplete =
        folder().resolve("blobs").resolve(repository.hash("model-Q8_0.gguf") + ".incomplete");
    Files.createDirectories(incomplete.getParent());
    Files.write(incomplete, new byte[100]);
    Path file = bed.fetch("hf:owner/model-GGUF:Q8_0");
    assertThat(Files.readAllBytes(file)).isEqualTo(HubTestBed.bytes(5000, 2));
  }

  @Test
  void wrongContentIsNeverUsed() throws IOException {
    StandInRepository repository = repository();
    repository.corrupt("model-Q8_0.gguf", HubTestBed.bytes(5000, 9));
    refused(
        "hf:owner/model-GGUF:Q8_0",
        "the SHA-256 of the download is",
        "expected " + repository.hash("model-Q8_0.gguf"));
    assertThat(incompleteFiles()).isEmpty();
    assertThat(folder().resolve("snapshots")).doesNotExist();
    repository.repair();
    assertThat(bed.fetch("hf:owner/model-GGUF:Q8_0")).isRegularFile();
  }

  @Test
  void aServerWithoutRangesSendsTheWholeFile() throws IOException {
    repository();
    bed.hub.failAlwaysAtStorage(new Fault.WholeFile());
    Path file = bed.fetch("hf:owner/model-GGUF");
    assertThat(Files.readAllBytes(file)).isEqualTo(HubTestBed.bytes(BIG, 1));
  }

  @Test
  void aRefusedAddressIsLookedUpAgain() throws IOException {
    repository();
    bed.hub.failAtStorage(new Fault.Status(403, Map.of()));
    Path file = bed.fetch("hf:owner/model-GGUF:Q8_0");
    assertThat(Files.readAllBytes(file)).isEqualTo(HubTestBed.bytes(5000, 2));
    assertThat(bed.hub.seen().stream().filter(seen -> seen.method().equals("HEAD"))).hasSize(2);
    bed.hub.failAlwaysAtStorage(new Fault.Status(403, Map.of()));
    refused("hf:owner/model-GGUF:Q4_K_M", "127.0.0.1 answers 403");
  }

  @Test
  void aBusyHubIsAskedAgainWhenItSays() {
    repository();
    bed.hub.failAtHub(
        new Fault.Status(429, Map.of("Retry-After", "17")), new Fault.Status(502, Map.of()));
    assertThat(bed.fetch("hf:owner/model-GGUF:Q8_0")).isRegularFile();
    assertThat(bed.pauses.stream().map(Duration::toSeconds)).containsExactly(17L, 2L);
  }

  @Test
  void aHubThatAsksForTooMuchPatienceIsGivenUp() {
    repository();
    bed.hub.failAtHub(new Fault.Status(429, Map.of("Retry-After", "4000")));
    refused("hf:owner/model-GGUF", "asks to wait 4000 s; expected at most 300 s");
    assertThat(bed.pauses).isEmpty();
  }

  @Test
  void withoutANetworkTheCacheIsUsed() {
    repository();
    Path file = bed.fetch("hf:owner/model-GGUF:Q8_0");
    bed.hub.close();
    List<String> notes = new ArrayList<>();
    HubListener listener =
        new HubListener() {
          @Override
          public void note(String sentence) {
            notes.add(sentence);
          }
        };
    HubReference reference = HubReference.parse("hf:owner/model-GGUF:Q8_0");
    assertThat(bed.client().fetch(reference, listener)).isEqualTo(file);
    assertThat(bed.pauses).isEmpty();
    assertThat(notes).hasSize(1).first().asString().contains("the cached model is used");
    assertThat(bed.client(bed.offline()).fetch(reference, listener)).isEqualTo(file);
    refused("hf:owner/model-GGUF:Q4_K_M", "localhost", "refuses connections, after 3 attempts");
    assertThatThrownBy(
            () ->
                bed.client(bed.offline())
                    .fetch(HubReference.parse("hf:owner/model-GGUF:Q4_K_M"), HubListener.NONE))
        .hasMessageContaining("HF_HUB_OFFLINE is set");
  }

  @Test
  void aRenamedRepositoryIsFollowed() {
    repository();
    bed.hub.rename("old/name", "owner/model-GGUF");
    assertThat(bed.fetch("hf:old/name:Q8_0")).isRegularFile();
    assertThat(cache.resolve("models--old--name")).isDirectory();
  }

  @Test
  void aNewCommitReusesEqualFiles() {
    StandInRepository repository = repository();
    Path first = bed.fetch("hf:owner/model-GGUF:Q8_0");
    long before = bed.hub.seenAtStorage();
    repository.add("README.md", "read me again");
    Path second = bed.fetch("hf:owner/model-GGUF:Q8_0");
    assertThat(second).isNotEqualTo(first).isRegularFile();
    assertThat(bed.hub.seenAtStorage()).isEqualTo(before);
    assertThat(folder().resolve("refs/main")).hasContent(repository.commit());
  }

  @Test
  void whereLinksAreImpossibleTheSnapshotHasTheFile() throws IOException {
    repository();
    Path file =
        bed.client(bed.withoutLinks())
            .fetch(HubReference.parse("hf:owner/model-GGUF:Q8_0"), HubListener.NONE);
    assertThat(Files.isSymbolicLink(file)).isFalse();
    assertThat(Files.readAllBytes(file)).isEqualTo(HubTestBed.bytes(5000, 2));
    long before = bed.hub.seenAtStorage();
    assertThat(
            bed.client(bed.withoutLinks())
                .fetch(HubReference.parse("hf:owner/model-GGUF:Q8_0"), HubListener.NONE))
        .isEqualTo(file);
    assertThat(bed.hub.seenAtStorage()).isEqualTo(before);
  }

  @Test
  void ofManyThreadsOneDownloads() throws Exception {
    repository();
    List<Callable<Path>> calls = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      calls.add(() -> bed.fetch("hf:owner/model-GGUF:Q4_K_M"));
    }
    try (ExecutorService threads = Executors.newFixedThreadPool(calls.size())) {
      for (Future<Path> file : threads.invokeAll(calls)) {
        assertThat(Files.readAllBytes(file.get())).isEqualTo(HubTestBed.bytes(BIG, 1));
      }
    }
    assertThat(bed.hub.seenAtStorage()).isEqualTo(3);
  }

  @Test
  void partsOfASplitModelComeTogether() {
    StandInRepository repository = bed.hub.repository("owner/split");
    for (int part = 1; part <= 3; part++) {
      repository.add(
          "Q4_K_M/big-Q4_K_M-0000%d-of-00003.gguf".formatted(part),
          HubTestBed.bytes(2000 + part, part));
    }
    Path first = bed.fetch("hf:owner/split");
    assertThat(first).hasFileName("big-Q4_K_M-00001-of-00003.gguf").isRegularFile();
    assertThat(first.resolveSibling("big-Q4_K_M-00003-of-00003.gguf")).isRegularFile();
  }

  @Test
  void aFolderOfSafetensorsIsFetchedWhole() {
    StandInRepository repository =
        bed.hub
            .repository("owner/folder")
            .add("config.json", "{}")
            .add("tokenizer.json", "{\"a\":1}")
            .add("model.safetensors.index.json", "{\"weight_map\":{}}")
            .add("consolidated.safetensors", HubTestBed.bytes(4000, 3))
            .add("onnx/model.onnx", HubTestBed.bytes(4000, 4));
    for (int shard = 1; shard <= 2; shard++) {
      repository.add(
          "model-0000%d-of-00002.safetensors".formatted(shard),
          HubTestBed.bytes(2000 + shard, shard));
    }
    Path folder = bed.fetch("hf:owner/folder");
    assertThat(folder).hasFileName(repository.commit());
    assertThat(folder.resolve("model-00002-of-00002.safetensors")).isRegularFile();
    assertThat(folder.resolve("tokenizer.json")).hasContent("{\"a\":1}");
    assertThat(folder.resolve("consolidated.safetensors")).doesNotExist();
    assertThat(folder.resolve("onnx")).doesNotExist();
  }

  @Test
  void aMirrorWithoutSizesIsAsked() throws IOException {
    repository().withoutSizes();
    Path file = bed.fetch("hf:owner/model-GGUF:Q8_0");
    assertThat(Files.readAllBytes(file)).isEqualTo(HubTestBed.bytes(5000, 2));
  }

  @Test
  void namesThatLeaveTheirFolderAreIgnored() {
    bed.hub
        .repository("owner/evil")
        .add("../../../../evil-Q4_K_M.gguf", HubTestBed.bytes(2000, 1))
        .add("C:/evil-Q4_K_M.gguf", HubTestBed.bytes(2000, 1));
    refused("hf:owner/evil", "has neither GGUF files nor");
    assertThat(cache.resolve("models--owner--evil")).doesNotExist();
  }
}
