package dev.kvasir.server.responses;

import java.util.Optional;

/** Keeps stored responses beyond the memory of this process. Texts may be lost at any time. */
public interface ResponseArchive {
  /** Keeps nothing. */
  ResponseArchive NONE =
      new ResponseArchive() {
        @Override
        public void write(String tenant, String id, String text) {}

        @Override
        public Optional<String> read(String tenant, String id) {
          return Optional.empty();
        }

        @Override
        public void delete(String tenant, String id) {}
      };

  void write(String tenant, String id, String text);

  Optional<String> read(String tenant, String id);

  void delete(String tenant, String id);
}
