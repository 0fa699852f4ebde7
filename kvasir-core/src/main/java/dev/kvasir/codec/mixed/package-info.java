/** Caches of models whose layers differ in the sizes of their heads. */
package dev.kvasir.codec.mixed;
