/** Examples of the Java API, which run on the module path. */
module dev.kvasir.examples {
  requires dev.kvasir.core;
}
