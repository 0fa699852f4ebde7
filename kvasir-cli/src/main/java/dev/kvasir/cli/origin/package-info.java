/**
 * The provenance of results: {@link dev.kvasir.cli.origin.Origin} combines the command line, the
 * version and the commit. Uses no other package of the command line, and {@code lab.report} of
 * kvasir-lab.
 */
package dev.kvasir.cli.origin;
