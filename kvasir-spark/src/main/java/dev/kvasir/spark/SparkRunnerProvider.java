package dev.kvasir.spark;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.work.ArithmeticFingerprint;
import dev.kvasir.lab.work.Runner;
import dev.kvasir.lab.work.RunnerProvider;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;

/** Opens a runner at a Spark master. */
public final class SparkRunnerProvider implements RunnerProvider {
  private static final String LOGGING = "log4j2.configurationFile";
  private static final String EXECUTOR_FLAGS = "spark.executor.extraJavaOptions";
  private static final String JARS = "spark.jars";
  private static final String MASTER = "spark.master";
  private static final String FLAGS = "--enable-native-access=ALL-UNNAMED";

  /**
   * Limit for the result of one task, such as the vectors of a calibration text; Spark's default is
   * 1g.
   */
  private static final String LARGEST_RESULT = "4g";

  /** The oldest Java version on which Spark 4.2 is known to work. */
  private static final Runtime.Version MIN_JAVA = Runtime.Version.parse("25.0.3");

  private final Duration timeout;

  public SparkRunnerProvider() {
    this(Cluster.TIMEOUT);
  }

  /**
   * @param timeout how long to wait after all executors are lost during the work
   */
  SparkRunnerProvider(Duration timeout) {
    this.timeout = timeout;
  }

  @Override
  public int localThreads(String master) {
    return LocalMaster.is(master) ? 1 : 0;
  }

  @Override
  public int tasksPerProcess(String master, Map<String, String> settings) {
    return LocalMaster.parallelism(master, settings);
  }

  static boolean runsOnThisJava() {
    return Runtime.version().compareTo(MIN_JAVA) >= 0;
  }

  @Override
  public Runner open(RunnerRequest request) {
    if (!runsOnThisJava()) {
      throw new InvalidInputException(
          "Java is %s; Spark needs %s or later".formatted(Runtime.version(), MIN_JAVA));
    }
    if (System.getProperty(LOGGING) == null) {
      System.setProperty(LOGGING, "classpath:dev/kvasir/spark/log4j2.properties");
    }
    try {
      return opened(request);
    } catch (LinkageError e) {
      throw new InvalidInputException(
          "Spark on the class path cannot be used (%s); expected SPARK_HOME to name a Spark 4.2"
              .formatted(e),
          e);
    }
  }

  private Runner opened(RunnerRequest request) {
    JavaSparkContext spark =
        connect(request.address(), conf(request.address(), request.settings()));
    FileDistribution distribution = new FileDistribution();
    try {
      requireVersion(spark.version());
      SparkRunner runner = runner(request, spark, distribution);
      runner.begin();
      return runner;
    } catch (
        Throwable e) { // Scala exceptions are undeclared, and only this method can close the two
      spark.close();
      distribution.close();
      throw e;
    }
  }

  /** Rejects other versions up front; missing features would otherwise show up during the work. */
  private static void requireVersion(String version) {
    if (!version.startsWith("4.")) {
      throw new InvalidInputException(
          "Spark is %s; expected SPARK_HOME to name a Spark 4.2".formatted(version));
    }
  }

  private SparkRunner runner(
      RunnerRequest request, JavaSparkContext spark, FileDistribution distribution) {
    TaskFunction function =
        new TaskFunction(
            request.inputs(), request.distributeFiles(), ArithmeticFingerprint.compute());
    boolean local = LocalMaster.is(request.address());
    Cluster cluster = new Cluster(spark.sc(), request.address(), local, timeout);
    return new SparkRunner(spark, request.model(), function, cluster, distribution);
  }

  private static JavaSparkContext connect(String master, SparkConf conf) {
    try {
      return new JavaSparkContext(conf);
    } catch (Exception e) { // Scala exceptions are undeclared
      throw new InvalidInputException(
          "--on is '%s', which cannot be reached: %s".formatted(master, firstLine(e)), e);
    }
  }

  static String firstLine(Throwable e) {
    return String.valueOf(e.getMessage()).lines().findFirst().orElse("");
  }

  /** Command-line settings and the environment take precedence over defaults. */
  static SparkConf conf(String master, Map<String, String> settings) {
    SparkConf conf = new SparkConf().setMaster(master).setIfMissing("spark.app.name", "kvasir");
    requireNoMaster(settings);
    settings.forEach(conf::set);
    conf.setIfMissing("spark.driver.maxResultSize", LARGEST_RESULT);
    conf.set(EXECUTOR_FLAGS, (FLAGS + " " + conf.get(EXECUTOR_FLAGS, "")).strip());
    Path jar = ownJar();
    if (Files.isRegularFile(jar)) {
      conf.set(JARS, withOwn(jar, conf.get(JARS, "")));
    }
    return conf;
  }

  private static void requireNoMaster(Map<String, String> settings) {
    if (settings.containsKey(MASTER)) {
      throw new InvalidInputException(
          "--conf sets %s to '%s'; expected --on to name it"
              .formatted(MASTER, settings.get(MASTER)));
    }
  }

  /**
   * @param jar the jar in which executors find Kvasir; spark-submit has already listed it
   * @param others comma-separated jars
   */
  static String withOwn(Path jar, String others) {
    List<String> jars = new ArrayList<>(List.of(others.split(",")));
    jars.removeIf(String::isBlank);
    if (jars.stream().noneMatch(one -> one.endsWith("/" + jar.getFileName()))) {
      jars.add(jar.toUri().toString());
    }
    return String.join(",", jars);
  }

  /** Returns the jar with all of Kvasir, or a class folder during a build. */
  private static Path ownJar() {
    try {
      return Path.of(
          SparkRunnerProvider.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Interprets local master URLs without starting Spark. */
  static final class LocalMaster {
    /**
     * Matches {@code local}, {@code local[4]}, {@code local[*]}, and with failures {@code local[4,
     * 2]}.
     */
    private static final Pattern NAME =
        Pattern.compile("local(\\[(?<threads>[1-9][0-9]{0,4}|\\*)(, *[0-9]+)?])?");

    private static final Pattern NUMBER = Pattern.compile("[1-9][0-9]{0,4}");

    private LocalMaster() {}

    /** Returns whether tasks run in this process. */
    static boolean is(String master) {
      return master.equals("local") || master.startsWith("local[");
    }

    /**
     * Returns how many tasks run in parallel in this process; 1 for URLs that Spark will reject.
     */
    static int parallelism(String master, Map<String, String> settings) {
      Matcher name = NAME.matcher(master);
      if (!name.matches()) {
        return 1;
      }
      String coresPerTask = settings.getOrDefault("spark.task.cpus", "1");
      int threads = threads(name.group("threads"));
      return NUMBER.matcher(coresPerTask).matches()
          ? Math.max(1, threads / Integer.parseInt(coresPerTask))
          : threads;
    }

    /**
     * @param typed null for one thread
     */
    private static int threads(String typed) {
      if (typed == null) {
        return 1;
      }
      return typed.equals("*")
          ? Runtime.getRuntime().availableProcessors()
          : Integer.parseInt(typed);
    }
  }
}
