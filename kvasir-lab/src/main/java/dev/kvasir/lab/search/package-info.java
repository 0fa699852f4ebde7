/** A search for good settings where each trial is expensive and two figures pull apart. */
package dev.kvasir.lab.search;
