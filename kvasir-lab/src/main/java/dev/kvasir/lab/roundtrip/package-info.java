/** Vectors of any model through a cache and back, with what is lost on the way. */
package dev.kvasir.lab.roundtrip;
