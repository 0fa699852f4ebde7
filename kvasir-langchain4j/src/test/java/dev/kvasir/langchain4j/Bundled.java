package dev.kvasir.langchain4j;

import dev.kvasir.ChatModel;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.runtime.EngineOptions;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.server.KvasirServer;
import dev.kvasir.server.ServerOptions;
import dev.kvasir.server.watch.ServerLog;
import java.io.OutputStream;
import java.io.PrintStream;
import java.util.stream.Stream;

/** The bundled model for all tests, in this process and behind a server, until the process ends. */
final class Bundled {
  static final String NAME = "kvasir-mini";
  static final String OTHER_NAME = "kvasir-mini@kivi:2";

  private static final ServerOptions OPTIONS =
      ServerOptions.defaults()
          .withAddress("127.0.0.1", 0)
          .withLengths(1024, 512)
          .withCacheSpecs(Stream.of("fp16", "kivi:2").map(CacheSpec::parse).toList());
  private static final ServerLog SILENT =
      new ServerLog(new PrintStream(OutputStream.nullOutputStream()));
  static final LoadedModel MODEL =
      LoadedModel.bundled(EngineOptions.defaults().withThreads(1).withCacheBytes(256 << 20));

  static final ChatModel CHAT_MODEL =
      ChatModel.builder()
          .model(MODEL)
          .cache("fp16", "kivi:2")
          .contextLimit(1024)
          .maxTokens(512)
          .build();

  private Bundled() {}

  private static final class ServerHolder {
    private static final KvasirServer SERVER = KvasirServer.start(MODEL, OPTIONS, SILENT);
  }

  static String url() {
    return "http://127.0.0.1:" + ServerHolder.SERVER.port() + "/v1";
  }
}
