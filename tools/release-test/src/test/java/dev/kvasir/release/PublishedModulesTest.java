package dev.kvasir.release;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** What Maven Central asks of every published module, and what users rely on in their builds. */
class PublishedModulesTest {
  private final Pom parent = Pom.of("");
  private final List<Pom> modules = parent.texts("/project/modules/module").map(Pom::of).toList();
  private final List<Pom> published = modules.stream().filter(Pom::isPublished).toList();

  private static List<String> names(List<Pom> poms) {
    return poms.stream().map(pom -> pom.text("/project/artifactId")).toList();
  }

  @Test
  void toolsTestsAndBenchmarksAreNotPublished() {
    assertThat(modules)
        .filteredOn(pom -> pom.folder().startsWith("tools/") || pom.folder().equals("kvasir-bench"))
        .isNotEmpty()
        .noneMatch(Pom::isPublished);
    assertThat(names(published)).contains("kvasir-core", "kvasir-cli", "kvasir-bom");
  }

  /** Maven's install plugin refuses a module without an artifact. */
  @Test
  void modulesWithoutAnArtifactAreNotInstalled() {
    assertThat(modules)
        .allSatisfy(pom -> assertThat(pom.isInstalled()).isEqualTo(pom.hasArtifact()));
  }

  @Test
  void everyPublishedModuleHasANameAndADescriptionOfItsOwn() {
    assertThat(published)
        .allSatisfy(
            pom -> {
              assertThat(pom.text("/project/name")).isNotBlank();
              assertThat(pom.text("/project/description")).isNotBlank();
            });
    assertThat(published)
        .extracting(pom -> pom.text("/project/description"))
        .doesNotHaveDuplicates();
  }

  @Test
  void theParentAndTheBomSayWhereTheProjectIsAndUnderWhichLicence() {
    for (String path :
        List.of(
            "/project/url",
            "/project/licenses/license/name",
            "/project/licenses/license/url",
            "/project/developers/developer/name",
            "/project/scm/connection",
            "/project/scm/developerConnection",
            "/project/scm/url")) {
      assertThat(parent.text(path)).as(path).isNotBlank();
      assertThat(Pom.of("kvasir-bom").text(path)).as(path).isEqualTo(parent.text(path));
    }
  }

  @Test
  void theBomListsExactlyThePublishedJars() {
    List<String> jars = new ArrayList<>(names(published));
    jars.remove("kvasir-bom");
    Pom bom = Pom.of("kvasir-bom");
    String managed = "/project/dependencyManagement/dependencies/dependency/";
    assertThat(bom.texts(managed + "artifactId")).containsExactlyInAnyOrderElementsOf(jars);
    assertThat(bom.texts(managed + "version")).containsOnly("${project.version}");
    assertThat(bom.text("/project/packaging")).isEqualTo("pom");
  }

  /** With the parent's managed versions an import would set those of other libraries too. */
  @Test
  void theBomHasNoParentButItsVersion() {
    assertThat(Pom.of("kvasir-bom").text("/project/parent/artifactId")).isEmpty();
    assertThat(Pom.of("kvasir-bom").text("/project/version"))
        .isEqualTo(parent.text("/project/version"))
        .isEqualTo(Pom.of("tools/sample-project").text("/project/properties/kvasir.version"));
  }

  @Test
  void theCoreBringsNeitherNativeLibrariesNorAModel() {
    Set<String> brought = new TreeSet<>();
    addDependencies("kvasir-core", brought);
    assertThat(brought).containsExactly("kvasir-template");
  }

  private static void addDependencies(String module, Set<String> all) {
    Pom.of(module)
        .texts("/project/dependencies/dependency[not(scope='test')]/artifactId")
        .filter(name -> name.startsWith("kvasir-"))
        .filter(all::add)
        .forEach(name -> addDependencies(name, all));
  }
}
