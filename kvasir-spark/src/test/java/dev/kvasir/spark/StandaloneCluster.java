package dev.kvasir.spark;

import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.spark.launcher.JavaModuleOptions;

/** A Spark master and its workers, each in its own process on this machine. */
final class StandaloneCluster implements AutoCloseable {
  private static final String CLASS_PATH = System.getProperty("java.class.path");
  private static final String QUICK_START =
      "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:ActiveProcessorCount=1";

  private final Path folder;
  private final int port;
  private final Process master;
  private final List<Process> workers = new ArrayList<>();

  /**
   * @param folder folder for Spark's output and for a Spark home with its jars
   */
  StandaloneCluster(Path folder, int workers) throws IOException {
    this.folder = folder;
    this.port = freePort();
    Path jars = Files.createDirectories(folder.resolve("home/jars"));
    for (String entry : CLASS_PATH.split(File.pathSeparator)) {
      Path jar = Path.of(entry);
      if (entry.endsWith(".jar") && !Files.exists(jars.resolve(jar.getFileName()))) {
        Files.createSymbolicLink(jars.resolve(jar.getFileName()), jar.toAbsolutePath());
      }
    }
    this.master =
        start(
            "org.apache.spark.deploy.master.Master",
            "--host",
            "127.0.0.1",
            "--port",
            "" + port,
            "--webui-port",
            "0");
    awaitMaster();
    for (int i = 0; i < workers; i++) {
      addWorker();
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  /** Drivers give up on a missing master within a minute. */
  private void awaitMaster() {
    while (master.isAlive()) {
      try (Socket _ = new Socket(InetAddress.getLoopbackAddress(), port)) {
        return;
      } catch (IOException e) {
        LockSupport.parkNanos(100_000_000);
      }
    }
    throw new IllegalStateException("the master has ended; %s says why".formatted(folder));
  }

  private void addWorker() throws IOException {
    workers.add(
        start(
            "org.apache.spark.deploy.worker.Worker",
            "--host",
            "127.0.0.1",
            "--cores",
            "1",
            "--memory",
            "700m",
            "--webui-port",
            "0",
            "--work-dir",
            folder.resolve("work").toString(),
            address()));
  }

  String address() {
    return "spark://127.0.0.1:" + port;
  }

  /** Returns the settings of a local driver whose executors run from class folders. */
  static Map<String, String> settings(int workers) {
    return Map.of(
        "spark.executor.memory",
        "600m",
        "spark.executor.instances",
        "" + workers,
        "spark.executor.extraClassPath",
        CLASS_PATH,
        "spark.executor.extraJavaOptions",
        QUICK_START,
        "spark.driver.host",
        "127.0.0.1",
        "spark.ui.enabled",
        "false");
  }

  private Process start(String type, String... arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-Xmx256m");
    command.addAll(List.of(QUICK_START.split(" ")));
    command.addAll(List.of(JavaModuleOptions.defaultModuleOptions().split(" ")));
    command.addAll(List.of("-cp", CLASS_PATH, type));
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().put("SPARK_HOME", folder.resolve("home").toString());
    builder.environment().put("SPARK_SCALA_VERSION", "2.13"); // otherwise looked for in a checkout
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    builder.environment().put("SPARK_LOCAL_IP", "127.0.0.1");
    return builder
        .redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.appendTo(folder.resolve("log").toFile()))
        .start();
  }

  /** Kills a worker and its executor without a shutdown. */
  void killWorker() {
    kill(workers.removeLast());
  }

  private static void kill(Process process) {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
  }

  /** Waits until the processes have ended, because their folder is deleted next. */
  @Override
  public void close() {
    List<Process> all = new ArrayList<>(workers);
    all.add(master);
    all.forEach(StandaloneCluster::kill);
    try {
      for (Process process : all) {
        process.waitFor(10, TimeUnit.SECONDS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
