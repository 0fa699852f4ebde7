package dev.kvasir.cuda.formats;

/** Creates the tables of sequences and owns what all sequences of a cache configuration share. */
public interface SequenceTableFactory extends AutoCloseable {
  SequenceTableFactory NONE = resources -> SequenceTables.NONE;

  SequenceTables newTables(CacheResources resources);

  @Override
  default void close() {}
}
